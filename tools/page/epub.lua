-- An EPUB has no scripts, and so no need of their data.

function RawBlock(block)
    if block.format == "html" and block.text:match("^<script") then return {} end
end
