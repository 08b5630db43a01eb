"""A small frame: this text is about it and goes nowhere."""

# %% [front]

# %% [markdown]
# Some *words*.
#
# A second paragraph.

# %% setup
name = "@name@"
x = "a\tquote \" and a \\ and é"

# %% [harness]

# %% tools
#@title Tools
def run(lab, link=""):
    print(lab, link)

# %% [recorded]

# %% [chapters]

# %% end
print("end")
