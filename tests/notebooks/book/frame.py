"""A small frame: this text is about it and goes nowhere."""

# %% [markdown of all]
# What is asked of all.

# %% [front]

# %% [markdown]
# Some *words*.
#
# A second paragraph.

# %% tools
#@title Tools
def run(lab, link=""):
    print(lab, link)

# %% setup
name = "@name@"
x = "a\tquote \" and a \\ and é"

# %% [harness]

# %% [recorded]

# %% [chapters]

# %% end
print("end")
