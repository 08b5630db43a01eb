-- Adds what the page needs beyond pandoc's HTML: a bar for each chapter; sections, which a browser
-- lays out when they come into view; a frame around every table, so that in a narrow window the
-- table scrolls and not the page; and names for empty column heads, for screen readers.

local function name_empty_heads(head)
    for _, row in ipairs(head.rows) do
        for _, cell in ipairs(row.cells) do
            if pandoc.utils.stringify(cell.contents) == "" then
                local name = pandoc.Span("row", { class = "unseen" })
                cell.contents = { pandoc.Plain({ name }) }
            end
        end
    end
end

local function frame(table)
    name_empty_heads(table.head)
    return pandoc.Div({ table }, { class = "table-frame" })
end

-- Makes a fold. Its first block is the label, which is visible while it is closed.
local function fold(div)
    if not div.classes:includes("fold") or #div.content == 0 then return nil end
    local label = pandoc.utils.stringify(div.content[1])
    local blocks = { pandoc.RawBlock("html", "<details><summary>" .. label .. "</summary>") }
    for i = 2, #div.content do blocks[i] = div.content[i] end
    blocks[#blocks + 1] = pandoc.RawBlock("html", "</details>")
    div.content = blocks
    return div
end

-- The buttons of listings that the page can run, and a hint above the first.
local hinted = false
local function runnable(div)
    local kernel, hole = div.classes:includes("runnable"), div.classes:includes("editable")
    if not kernel and not hole then return nil end
    local name = div.identifier:match("^chunk%-(.+)")
    local button = string.format('<button type="button" class="%s">%s<span class="unseen"> %s</span></button>',
        kernel and "run" or "check", kernel and "Run" or "Edit", name)
    div.content[1].content:insert(pandoc.RawBlock("html", button)) -- into the caption
    if kernel and not hinted then
        hinted = true
        div.content:insert(1, pandoc.RawBlock("html", '<p class="run-hint">Press Run to change this kernel and count what it does, '
            .. "here in your browser. Your text stays in the browser, and Reset restores the book’s.</p>"))
    end
    return div
end

-- Puts what to try with a listing into its box.
local function suggested(blocks)
    local kept = pandoc.List()
    for _, block in ipairs(blocks) do
        local before = kept[#kept]
        if block.t == "Div" and block.classes:includes("try") and before and before.t == "Div" and before.classes:includes("runnable") then
            before.content:insert(block)
        else
            kept:insert(block)
        end
    end
    return kept
end

-- Says in an exercise that can be checked in the page that its code can be edited there.
local function edited(div)
    if not div.attributes["data-exercise"] then return nil end
    return div:walk({ Para = function(para)
        local first, file = para.content[1], para.content[3]
        if first.t ~= "Str" or first.text ~= "Edit" or not file or file.t ~= "Code" or not file.text:match("^work/") then return nil end
        para.content[1] = pandoc.RawInline("html", '<span class="edit-here">Edit it here and press <em>Check</em>, or edit</span><span class="edit-there">Edit</span>')
        return para
    end })
end

-- --- the estimated height of a section, in lines of text ---

local tall = {
    Para = function(block) return math.ceil(#pandoc.utils.stringify(block) / 85) + 0.6 end,
    Header = function() return 4 end,
    RawBlock = function(block) return block.text:match("^<pre") and select(2, block.text:gsub("\n", "")) * 0.75 + 3.5 or 0 end,
    Table = function(block) return #block.bodies[1].body * 1.3 + 5 end,
    Figure = function() return 17 end,
}

local function lines_of(blocks)
    local sum, folded = 0, false
    for _, block in ipairs(blocks) do
        local known = tall[block.t]
        if block.t == "RawBlock" and block.text:match("^<details") then folded = true end
        if folded then
            sum = sum + (block.t == "RawBlock" and block.text:match("^</details") and 1.5 or 0)
        elseif known then
            sum = sum + known(block)
        elseif block.t == "BulletList" or block.t == "OrderedList" then
            for _, item in ipairs(block.content) do sum = sum + lines_of(item) end
        elseif block.t == "Div" and not block.classes:includes("answers") then
            sum = sum + lines_of(block.content) + 1
        elseif block.t == "BlockQuote" then
            sum = sum + lines_of(block.content)
        end
        if block.t == "RawBlock" and block.text:match("^</details") then folded = false end
    end
    return sum
end

-- --- chapters ---

local function escaped(text)
    return (text:gsub("[&<>\"]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }))
end

-- A chapter's title without its subtitle after the colon: `4 Bank conflicts`.
local function name_of(heading)
    return escaped(pandoc.utils.stringify(heading):gsub(":.*", ""))
end

local function neighbour(heading, way, word, before, behind)
    if not heading then return "<span></span>" end
    local name = name_of(heading)
    return string.format('<a class="%s" href="#%s"><span class="unseen">%s: </span>%s<span class="name">%s</span>%s</a>',
        way, heading.identifier, word, before, name, behind)
end

-- The bar of a chapter. In a narrow window, its buttons open the contents and the search.
local function bar(before, heading, behind)
    local name = name_of(heading)
    return '<nav class="bar" aria-label="' .. name .. '"><button popovertarget="side">Contents</button>'
        .. neighbour(before, "previous", "Previous", "‹ ", "")
        .. '<a class="place" href="#' .. heading.identifier .. '">' .. name .. "</a>"
        .. neighbour(behind, "next", "Next", "", " ›")
        .. '<button popovertarget="side" class="find">Search</button></nav>'
end

local function raw(html) return pandoc.RawBlock("html", html) end

-- Splits blocks into sections at headings of the first two levels.
local function sections_of(blocks)
    local sections = pandoc.List()
    for _, block in ipairs(blocks) do
        local opens = block.t == "Header" and block.level <= 2
        if opens or #sections == 0 then sections:insert(pandoc.List()) end
        sections[#sections]:insert(block)
    end
    return sections
end

function Pandoc(document)
    local chapters, blocks, open = pandoc.List(), pandoc.List(), 0
    for _, block in ipairs(document.blocks) do
        if block.t == "Header" and block.level == 1 then chapters:insert(block) end
    end
    local folded = document.blocks:walk({ Table = frame, Div = fold })
    if document.meta.engine then folded = folded:walk({ Div = function(div) return edited(div) or runnable(div) end, Blocks = suggested }) end
    for _, section in ipairs(sections_of(folded)) do
        if section[1].t == "Header" and section[1].level == 1 then
            if open > 0 then blocks:insert(raw("</div>")) end
            open = open + 1
            blocks:insert(raw('<div class="chapter">' .. bar(chapters[open - 1], chapters[open], chapters[open + 1])))
        end
        blocks:insert(raw(string.format('<section style="--lines:%.0f">', lines_of(section))))
        blocks:extend(section)
        blocks:insert(raw("</section>"))
    end
    if open > 0 then blocks:insert(raw("</div>")) end
    return pandoc.Pandoc(blocks, document.meta)
end
