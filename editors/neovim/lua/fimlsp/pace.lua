--- How long to wait for the next key: a little longer than this user's usual gap between two, and never less than
--- the setting debounceMs.

local config = require('fimlsp.config')

local M = {}

local SAME_BURST_MS = 1000
local LONGEST_PAUSE_MS = 600
local MEMORY = 0.8
local SLACK = 1.3

---@type number?
local last
---@type number?
local gap

--- A key was pressed at *now*, in milliseconds of any clock. A longer rest is no part of the rhythm.
---@param now number
function M.press(now)
  local passed = last and now - last
  last = now
  if passed and passed > 0 and passed <= SAME_BURST_MS then
    gap = gap and MEMORY * gap + (1 - MEMORY) * passed or passed
  end
end

--- Milliseconds to wait.
---@return integer
function M.pause()
  return math.max(config.debounce(), math.min(LONGEST_PAUSE_MS, math.floor(SLACK * (gap or 0))))
end

return M
