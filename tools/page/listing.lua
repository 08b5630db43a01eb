-- Code on the page: pandoc's highlighting in as few tags as possible (a third of the page), marks
-- on changed lines, and links on lines that refer to chunks.

-- The token classes that code.css colours.
local coloured = {}
for kind in ("kw cf ex pp at dt va dv bn fl ch cn st ss vs co do cv bu fu im sc an"):gmatch("%a+") do
    coloured[kind] = true
end

local chunks = {} -- the chunks on the page

local function collect(div)
    local name = div.identifier:match("^chunk%-(.+)")
    if name then chunks[name] = true end
end

local function linked(text)
    local name = text:match("^&lt;&lt;(%S+)&gt;&gt;%s*$")
    return name and chunks[name] and '<a class="chunk-link" href="#chunk-' .. name .. '">' .. text .. "</a>"
end

-- A line without pandoc's link to it. Adjacent tokens of one class share a tag.
local function lean(line)
    line = line:gsub('^<span id="[^"]*"><a[^>]*></a>(.*)</span>$', "%1")
    line = line:gsub('<span class="(%a+)">([^<]*)</span>', function(kind, text)
        return linked(text) or (coloured[kind] and '<i class="' .. kind .. '">' .. text .. "</i>" or text)
    end)
    local before
    repeat
        before = line
        line = line:gsub('(<i class="(%a+)">[^<]*)</i>( *)<i class="(%a+)">', function(start, kind, blanks, next)
            return kind == next and start .. blanks or nil
        end)
    until line == before
    return line
end

local function listing(block)
    -- These options make a whole page of it. Without a title, pandoc 3.1 prints a warning.
    local page = pandoc.Pandoc({ block }, { title = "listing" })
    local html = pandoc.write(page, "html", PANDOC_WRITER_OPTIONS)
    local code = html:match("<code[^>]*>(.*)</code>")
    local changed, lines = {}, pandoc.List()
    for number in (block.attributes.changed or ""):gmatch("%d+") do changed[tonumber(number)] = true end
    for line in (code .. "\n"):gmatch("(.-)\n") do
        line = lean(line)
        lines:insert(changed[#lines + 1] and '<span class="changed">' .. line .. "</span>" or line)
    end
    local class = block.classes:includes("diff") and ' class="diff"' or ""
    return pandoc.RawBlock("html", "<pre" .. class .. "><code>" .. table.concat(lines, "\n") .. "</code></pre>")
end

return { { Div = collect }, { CodeBlock = listing } }
