-- Predictions: the question stays where it is asked, and all answers of a chapter stand at its end,
-- for readers of paper and of an EPUB. On the HTML page each answer also stands folded behind its
-- question, where predict.js finds it.

local html = FORMAT:match("^html") ~= nil

local function has(block, class)
    return block.t == "Div" and block.classes:includes(class)
end

-- `4.1 47 wavefronts` with a link to the question, and what else there is to say.
local function entry_of(prediction, answer)
    local link = pandoc.Link(answer.attributes["data-name"], "#" .. prediction.identifier)
    local first = pandoc.List({ pandoc.Strong({ link }), pandoc.Space() })
    local blocks = answer.content:clone()
    first:extend(blocks:remove(1).content[1].content)
    blocks:insert(1, pandoc.Para(first))
    return pandoc.Div(blocks, { class = "answered" })
end

-- Takes the answer out of a prediction: what the page keeps there, and the entry for the end.
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
        if has(block, "predict") then
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
