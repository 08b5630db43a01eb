-- Embeds drawings as SVG text instead of base64, without names of groups, blanks and invisible
-- digits. These would take a third of the page.

local function path_of(d)
    return d:gsub("%s+", " "):gsub("(%d%.%d%d)%d+", "%1"):gsub(" ?([MLHVCSQTAZmlhvcsqtaz]) ?", "%1")
end

local function short_digits(tag)
    return tag:gsub("(%d%.%d%d%d%d)%d+", "%1"):gsub("(%.%d-)0+%f[%D]", "%1"):gsub("(%d)%.%f[%D]", "%1")
end

-- Most lines are horizontal or vertical: H or V with one number describes them.
local function straight(d)
    local x, y
    return d:gsub("(%a)([%d. -]*)", function(command, numbers)
        local was_x, was_y = x, y
        local new_x, new_y = numbers:match("(%S+) (%S+) ?$")
        x, y = new_x or x, new_y or y
        if command ~= "L" then return nil end
        return y == was_y and "H" .. x or x == was_x and "V" .. y or nil
    end)
end

-- Moves the font family that texts share to the drawing.
local function share_font(svg)
    local family = svg:match("font%-family: ?([^;]-sans%-serif)")
    if not family then return svg end
    local named = "font%-family: ?" .. family:gsub("%p", "%%%0") .. "; ?"
    return svg:gsub(named, ""):gsub("<svg ", "<svg font-family='" .. family:gsub("['\"]", "") .. "' ", 1)
end

-- Drops groups without attributes, which are only layers of the plot.
local function without_bare_groups(svg)
    local bare = {}
    return (svg:gsub("<(/?)g(%s?[^>]*)>", function(closes, attributes)
        if not attributes:match("^%s") and attributes ~= "" then return nil end
        local is_bare = attributes == ""
        if closes == "/" then is_bare = table.remove(bare) else table.insert(bare, is_bare) end
        return is_bare and "" or nil
    end))
end

-- Replaces style attributes that many shapes share by classes. Dark mode selects by class, too.
local function share_styles(svg)
    local count, class, rules, classes = {}, {}, {}, 0
    for style in svg:gmatch(' style="(.-)"') do count[style] = (count[style] or 0) + 1 end
    svg = svg:gsub(' style="(.-)"', function(style)
        if count[style] < 3 then return nil end
        if not class[style] then
            classes = classes + 1
            class[style] = "s" .. classes
            table.insert(rules, "." .. class[style] .. "{" .. style .. "}")
        end
        return ' class="' .. class[style] .. '"'
    end)
    svg = svg:gsub('%[style%*="(.-)"%]', function(part)
        local found = { '[style*="' .. part .. '"]' }
        for style, name in pairs(class) do
            if style:find(part, 1, true) then table.insert(found, "." .. name) end
        end
        table.sort(found)
        return ":is(" .. table.concat(found, ",") .. ")"
    end)
    return (svg:gsub("<style>", function(tag) return tag .. table.concat(rules) end, 1))
end

local function squeezed(svg)
    svg = svg:gsub("<!%-%-.-%-%->", ""):gsub("<metadata>.-</metadata>", "")
    svg = svg:gsub(' id="%a[%w_.]*_%d+"', ""):gsub(' transform="rotate%(%-0 [^"]*"', ""):gsub(">%s+<", "><")
    svg = svg:gsub('(%[style%*="%a+:) ', "%1") -- dark mode selects by style
    svg = svg:gsub("<[^>]*>", short_digits):gsub(' d="(.-)"', function(d) return ' d="' .. straight(path_of(d)) .. '"' end)
    svg = share_font(without_bare_groups(svg)):gsub(' style="(.-)"', function(style)
        return ' style="' .. style:gsub("([:;]) ", "%1") .. '"'
    end)
    return share_styles(svg)
end

-- Protects apostrophes in text while quotes are swapped.
local function with_apostrophes(svg)
    return (svg:gsub(">([^<]+)", function(text) return ">" .. text:gsub("'", "&apos;") end))
end

-- Swaps single and double quotes, since the data URI is in double ones. render.sh undoes escapes
-- that pandoc needs and browsers do not.
local codes = { ["%"] = "%25", ["#"] = "%23", ["<"] = "%3C", [">"] = "%3E", ["&"] = "%26", ['"'] = "%27", ["'"] = "%22" }

-- Sets the drawing's natural size in pixels, so that the page reserves its space, and the least
-- width at which its words are readable: the smallest are 7.5 pixels high, if that is not much
-- wider than a phone.
local function set_size(image, svg)
    local width, height = svg:match('viewBox="[%d.-]+ [%d.-]+ ([%d.]+) ([%d.]+)"')
    if not width then return end
    local smallest = 12
    for size in svg:gmatch("font%-size: ?([%d.]+)px") do smallest = math.min(smallest, tonumber(size)) end
    image.attributes.width = string.format("%.0f", width * 4 / 3)
    image.attributes.height = string.format("%.0f", height * 4 / 3)
    image.attributes.style = string.format("--least:%.0fpx", math.min(560, width * 7.5 / smallest))
end

function Image(image)
    if not image.src:match("%.svg$") then return nil end
    local found, kind, svg = pcall(pandoc.mediabag.fetch, image.src)
    if not found or not svg then return nil end
    local data = with_apostrophes(squeezed(svg)):gsub("%s+", " "):gsub("^ ", ""):gsub("[%%#<>&\"']", codes)
    image.src = "data:image/svg+xml," .. data
    image.attributes.loading, image.attributes.decoding = "lazy", "async"
    set_size(image, svg)
    return image
end
