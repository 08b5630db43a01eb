-- What the page needs beyond pandoc's own HTML: every table in a frame of its own, so that in a
-- narrow window the table scrolls and not the page, and a name for column heads that are empty, for
-- readers who hear the table.

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

function Table(table)
    name_empty_heads(table.head)
    return pandoc.Div({ table }, { class = "table-frame" })
end

-- What a click shows: the first block, its label, is what stands there before.
function Div(div)
    if not div.classes:includes("fold") or #div.content == 0 then return nil end
    local label = pandoc.utils.stringify(div.content[1])
    local blocks = { pandoc.RawBlock("html", "<details><summary>" .. label .. "</summary>") }
    for i = 2, #div.content do blocks[i] = div.content[i] end
    blocks[#blocks + 1] = pandoc.RawBlock("html", "</details>")
    div.content = blocks
    return div
end
