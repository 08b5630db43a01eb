-- Drops the data of scripts, since an EPUB has no scripts.

function RawBlock(block)
    if block.format == "html" and block.text:match("^<script") then return {} end
end
