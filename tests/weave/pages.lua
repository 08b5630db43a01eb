-- Converts several texts to HTML in one run of pandoc: each file named by a line of $TEXTS, in the
-- format $READER. A zero byte ends each page.
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
