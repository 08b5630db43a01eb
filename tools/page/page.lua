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
