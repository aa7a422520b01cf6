--- Completions for Python that connect to what follows the cursor. See :help fimlsp.

local client = require('fimlsp.client')
local config = require('fimlsp.config')
local inside = require('fimlsp.inside')
local keymaps = require('fimlsp.keymaps')
local resting = require('fimlsp.resting')
local shown = require('fimlsp.shown')
local status = require('fimlsp.status')
local suggestion = require('fimlsp.suggestion')

local M = {}

local function display()
  return require(config.is_native() and 'fimlsp.native' or 'fimlsp.extmark')
end

local function tell(news)
  vim.notify('fimlsp: ' .. news)
end

local function attach(buffer)
  keymaps.set(buffer, {
    accept = M.accept,
    accept_word = M.accept_word,
    accept_line = M.accept_line,
    next = M.next,
    previous = M.previous,
    trigger = M.trigger,
    dismiss = M.dismiss,
  })
  if not vim.b[buffer].fimlsp_off then
    display().attach(buffer)
  end
  resting.watch(buffer)
end

--- Start the server for each buffer of the right kind, those that are open already included.
---@param options? table See :help fimlsp-options.
function M.setup(options)
  config.set(options)
  vim.filetype.add({ extension = { slua = 'slua' } })
  vim.api.nvim_set_hl(0, 'FimlspSuggestion', { link = 'NonText', default = true })
  vim.api.nvim_set_hl(0, 'FimlspCount', { link = 'MoreMsg', default = true })
  vim.api.nvim_create_autocmd('FileType', {
    group = vim.api.nvim_create_augroup('fimlsp', {}),
    pattern = config.current.filetypes,
    callback = function(event)
      client.start(event.buf, attach)
    end,
  })
  inside.watch()
  status.watch()
  M.start()
end

--- Attach the server to all loaded buffers of the right kind.
function M.start()
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) and vim.tbl_contains(config.current.filetypes, vim.bo[buffer].filetype) then
      client.start(buffer, attach)
    end
  end
end

--- What is suggested at the cursor, if anything.
---@return string?
function M.suggested()
  return shown.rest()
end

--- Accept what *part* takes of the suggestion; false when there is none.
---@param part fun(rest: string): string
---@return boolean
local function accept(part)
  local candidate, rest = shown.candidate(), shown.rest()
  if not candidate or not rest then
    return false
  end
  local taken = part(rest)
  if #taken + #candidate.closing >= #rest then
    taken = rest
  end
  suggestion.insert(taken)
  if taken ~= rest then
    display().draw()
    return true
  end
  shown.forget()
  display().hide()
  if candidate.closing ~= '' then
    suggestion.step_back(#candidate.closing)
    inside.enter(candidate.closing)
  end
  if candidate.command then
    client.execute(candidate.command.command, candidate.command.arguments)
  end
  return true
end

--- Accept the suggestion. False when there is none; the same for its parts.
---@return boolean
function M.accept()
  return accept(suggestion.whole)
end

--- Accept its next word.
---@return boolean
function M.accept_word()
  return accept(suggestion.word)
end

--- Accept its next line.
---@return boolean
function M.accept_line()
  return accept(suggestion.line)
end

local function select(count)
  if not shown.rest() then
    return false
  end
  display().select(count)
  return true
end

--- Show the next candidate. False when there is no suggestion; the same for the previous.
---@return boolean
function M.next()
  return select(1)
end

--- Show the previous candidate.
---@return boolean
function M.previous()
  return select(-1)
end

--- Ask for a suggestion now.
function M.trigger()
  display().trigger()
end

--- Take the suggestion away; it does not come again here by itself. False when there is none.
---@return boolean
function M.dismiss()
  local candidate = shown.rest() and shown.candidate()
  shown.forget()
  display().hide()
  if candidate and candidate.id then
    client.execute('fimlsp.server.dismiss', { candidate.id })
  end
  return candidate ~= nil
end

--- Turn completing while typing on or off.
function M.toggle()
  local is_known = client.execute('fimlsp.server.toggle', {}, function(result)
    tell('suggestions while typing are ' .. (result.automatic and 'on' or 'off'))
  end)
  if not is_known then
    tell('no server is running')
  end
end

--- Turn suggestions in this buffer on or off.
function M.toggle_buffer()
  local buffer = vim.api.nvim_get_current_buf()
  local is_off = not vim.b.fimlsp_off
  vim.b.fimlsp_off = is_off
  display()[is_off and 'detach' or 'attach'](buffer)
  tell('suggestions in this buffer are ' .. (is_off and 'off' or 'on'))
  vim.cmd.redrawstatus()
end

--- Let another model write, until Neovim ends.
---@param name string As the option `model`; empty: the bundled one.
function M.use_model(name)
  config.current.settings = vim.tbl_extend('force', config.current.settings, { model = name })
  client.send_settings()
  local setting = ("settings = { model = '%s' }"):format(name)
  tell((name == '' and 'the bundled model' or name) .. ' it is; to keep it, put ' .. setting .. ' into setup()')
end

--- End the server and start it anew.
function M.restart()
  client.stop()
  vim.wait(3000, function()
    return #vim.lsp.get_clients({ name = 'fimlsp' }) == 0
  end, 20)
  M.start()
end

--- A few characters for a statusline.
---@return string
function M.status()
  return status.text()
end

return M
