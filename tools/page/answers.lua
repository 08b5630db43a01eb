-- Predictions: moves the answers to the end of their chapter, for readers of paper and of an EPUB.
-- On the HTML page, a folded copy follows each question, where predict.js finds it.

local html = FORMAT:match("^html") ~= nil

local function has(block, class)
    return block.t == "Div" and block.classes:includes(class)
end

-- The entry in the list of answers: `4.1 47 wavefronts`, with a link to the question, and an
-- explanation.
local function entry_of(prediction, answer)
    local link = pandoc.Link(answer.attributes["data-name"], "#" .. prediction.identifier)
    local first = pandoc.List({ pandoc.Strong({ link }), pandoc.Space() })
    local blocks = answer.content:clone()
    first:extend(blocks:remove(1).content[1].content)
    blocks:insert(1, pandoc.Para(first))
    return pandoc.Div(blocks, { class = "answered" })
end

-- Removes the answer from a prediction. Returns what the HTML page keeps there, and the list entry.
local function take_answer(prediction)
    local content, entry = pandoc.List(), nil
    for _, block in ipairs(prediction.content) do
        if has(block, "answer") then
            entry = entry_of(prediction, block)
            if html then
                local folded = pandoc.List({ pandoc.RawBlock("html", "<details><summary>Answer</summary>") })
                folded:extend(block.content)
                folded:insert(pandoc.RawBlock("html", "</details>"))
                content:insert(pandoc.Div(folded, block.attr))
            end
        else
            content:insert(block)
        end
    end
    return pandoc.Div(content, prediction.attr), entry
end

local function add_answers(blocks, answers)
    if #answers == 0 then return end
    local label = pandoc.Div({ pandoc.Para({ pandoc.Str("Answers") }) }, { class = "label" })
    blocks:insert(pandoc.Div({ label, table.unpack(answers) }, { class = "answers" }))
end

function Pandoc(document)
    local blocks, answers = pandoc.List(), pandoc.List()
    for _, block in ipairs(document.blocks) do
        if block.t == "Header" and block.level == 1 then
            add_answers(blocks, answers)
            answers = pandoc.List()
        end
        if has(block, "try") and not document.meta.engine then
            -- what to try is left out, since nothing can be run
        elseif has(block, "predict") then
            local asked, entry = take_answer(block)
            blocks:insert(asked)
            if entry then answers:insert(entry) end
        else
            blocks:insert(block)
        end
    end
    add_answers(blocks, answers)
    return pandoc.Pandoc(blocks, document.meta)
end
