--- The place where the cursor rests: a slow model reads the text around it before it is asked for a suggestion.

local client = require('fimlsp.client')

local M = {}

local REST_MS = 300
--- Counts the movements: only the last one of several is told.
local movement = 0

--- Tell the server the place of the cursor, if it is in *buffer*.
---@param buffer integer
local function tell(buffer)
  local server = buffer == vim.api.nvim_get_current_buf() and client.of(buffer)
  if server then
    local params = vim.lsp.util.make_position_params(0, server.offset_encoding)
    local at = params.position
    client.execute('fimlsp.server.rest', { params.textDocument.uri, at.line, at.character })
  end
end

--- The cursor has come to another place, and may go on.
---@param buffer integer
local function move(buffer)
  movement = movement + 1
  local this = movement
  vim.defer_fn(function()
    if this == movement then
      tell(buffer)
    end
  end, REST_MS)
end

--- Tell where the cursor rests in a buffer, from now on.
---@param buffer integer
function M.watch(buffer)
  vim.api.nvim_create_autocmd({ 'BufEnter', 'CursorMoved', 'CursorMovedI' }, {
    group = vim.api.nvim_create_augroup('fimlsp.resting.' .. buffer, {}),
    buffer = buffer,
    callback = function()
      move(buffer)
    end,
  })
  tell(buffer)
end

return M
