-- Makes HTML of several texts in one run of pandoc: of each file that a line of $TEXTS names, in the
-- format $READER. Behind each page comes a zero byte.
function Pandoc()
  local columns = 10000
  local reading = pandoc.ReaderOptions {columns = columns}
  local writing = pandoc.WriterOptions {
    columns = columns, template = pandoc.template.compile("$provenance$ $body$"), wrap_text = "wrap-none"}
  for path in os.getenv("TEXTS"):gmatch("[^\n]+") do
    local file = assert(io.open(path))
    local text = pandoc.read(file:read("a"), os.getenv("READER"), reading)
    file:close()
    io.stdout:write(pandoc.write(text, "html", writing), "\0")
  end
  io.stdout:flush() -- before pandoc writes the page of no text
  return pandoc.Pandoc({})
end
