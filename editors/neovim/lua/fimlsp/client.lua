--- The language client: started for each buffer of the right kind, one for all of a project.

local config = require('fimlsp.config')
local server = require('fimlsp.server')
local status = require('fimlsp.status')

local M = {}

local METHOD = 'textDocument/inlineCompletion'
local LONGEST_LOG = 1000
local ROOT_MARKERS = { 'pyproject.toml', 'setup.py', 'setup.cfg', '.git' }

---@type string[] What the server has logged.
M.log = {}

---@type boolean Whether the user was told that there is no server.
M.is_missed = false

--- Called with each answer of the server: the items and the place they were asked for. Set by who shows them.
---@type fun(buffer: integer, items: lsp.InlineCompletionItem[])
M.on_answer = function() end

--- How the next request is to be asked instead, once: by hand.
---@type integer?
M.next_kind = nil

--- The client of a buffer.
---@param buffer? integer
---@return vim.lsp.Client?
function M.of(buffer)
  return vim.lsp.get_clients({ name = 'fimlsp', bufnr = buffer or 0 })[1]
end

--- Whether suggestions are made in a buffer.
---@param buffer integer
---@return boolean
function M.is_on(buffer)
  return not vim.b[buffer].fimlsp_off and M.of(buffer) ~= nil
end

--- Attach the server to a buffer; *on_attach* is called with it when the server is there.
---@param buffer integer
---@param on_attach fun(buffer: integer)
function M.start(buffer, on_attach)
  local command = server.command()
  if not command then
    M.miss()
    return
  end
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.textDocument.inlineCompletion = { dynamicRegistration = false }
  capabilities.experimental = { inlineCompletionSnippets = true }
  vim.lsp.start({
    name = 'fimlsp',
    cmd = function(dispatchers)
      return M.connection(command, dispatchers)
    end,
    root_dir = vim.fs.root(buffer, ROOT_MARKERS),
    capabilities = capabilities,
    init_options = config.settings(),
    settings = { fimlsp = config.settings() },
    handlers = {
      ['fimlsp/status'] = function(_, new)
        status.set(new)
      end,
      ['window/logMessage'] = function(_, message)
        M.take_log(message.message)
      end,
    },
    on_attach = function(_, attached)
      on_attach(attached)
    end,
    on_exit = function(code)
      vim.schedule(function()
        status.set({ state = 'stopped', reason = code ~= 0 and 'see :Fimlsp log' or nil })
      end)
    end,
  }, { bufnr = buffer })
end

--- There is no server: say so, and what to do; once, as this comes with every buffer.
function M.miss()
  local reason = server.missing()
  status.set({ state = 'missing', reason = reason })
  if not M.is_missed then
    M.is_missed = true
    vim.notify('fimlsp: ' .. reason, vim.log.levels.WARN)
  end
end

--- The connection to the process of *command*, through which all requests go, Neovim's own as well.
---@param command string[]
---@param dispatchers vim.lsp.rpc.Dispatchers
---@return vim.lsp.rpc.PublicClient
function M.connection(command, dispatchers)
  local server_process = vim.lsp.rpc.start(vim.list_extend(vim.deepcopy(command), { '--stdio' }), dispatchers)
  return setmetatable({
    request = function(method, params, callback, ...)
      if method == METHOD then
        params, callback = M.asked(params, callback)
        if vim.fn.pumvisible() == 1 then
          callback(nil, { items = {} })
          return true, nil
        end
      end
      return server_process.request(method, params, callback, ...)
    end,
  }, { __index = server_process })
end

--- A request for a suggestion, asked by hand if that was wanted, and an answer that is passed on to `on_answer` first.
---@param params table
---@param callback function
---@return table params, function callback
function M.asked(params, callback)
  params.context.triggerKind = M.next_kind or params.context.triggerKind
  M.next_kind = nil
  local buffer = vim.uri_to_bufnr(params.textDocument.uri)
  return params, function(failure, result)
    vim.schedule(function()
      M.on_answer(buffer, result and (result.items or result) or {})
    end)
    callback(failure, result)
  end
end

--- Ask for suggestions at the cursor; *handler* gets the items.
---@param kind integer
---@param handler fun(items: lsp.InlineCompletionItem[])
---@return fun() cancel
function M.ask(kind, handler)
  local client = assert(M.of())
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  params.context = { triggerKind = kind }
  local function answered(_, result)
    handler(result and (result.items or result) or {})
  end
  local buffer = vim.api.nvim_get_current_buf()
  if vim.fn.has('nvim-0.11') == 1 then
    local _, id = client:request(METHOD, params, answered, buffer)
    return function()
      return id and client:cancel_request(id)
    end
  end
  local _, id = client.request(METHOD, params, answered, buffer)
  return function()
    return id and client.cancel_request(id)
  end
end

--- Run one of the server's commands; *handler* gets its result. Older servers have fewer: false when it is unknown.
---@param command string
---@param arguments any[]
---@param handler? fun(result: any)
---@return boolean
function M.execute(command, arguments, handler)
  local client = M.of() or vim.lsp.get_clients({ name = 'fimlsp' })[1]
  local provider = client and client.server_capabilities.executeCommandProvider
  if not client or not provider or not vim.tbl_contains(provider.commands, command) then
    return false
  end
  local params = { command = command, arguments = arguments }
  local function done(failure, result)
    if failure then
      vim.notify('fimlsp: ' .. failure.message, vim.log.levels.WARN)
    elseif handler then
      handler(result)
    end
  end
  if vim.fn.has('nvim-0.11') == 1 then
    client:request('workspace/executeCommand', params, done)
  else
    client.request('workspace/executeCommand', params, done)
  end
  return true
end

--- Tell all servers the settings as they are now.
function M.send_settings()
  local params = { settings = { fimlsp = config.current.settings } }
  for _, client in ipairs(vim.lsp.get_clients({ name = 'fimlsp' })) do
    client.settings = params.settings
    if vim.fn.has('nvim-0.11') == 1 then
      client:notify('workspace/didChangeConfiguration', params)
    else
      client.notify('workspace/didChangeConfiguration', params)
    end
  end
end

--- End the server.
function M.stop()
  for _, client in ipairs(vim.lsp.get_clients({ name = 'fimlsp' })) do
    if vim.fn.has('nvim-0.11') == 1 then
      client:stop()
    else
      client.stop()
    end
  end
end

--- Keep what the server logs, for `:Fimlsp log`.
---@param message string
function M.take_log(message)
  vim.list_extend(M.log, vim.split(message, '\n'))
  if #M.log > LONGEST_LOG then
    M.log = vim.list_slice(M.log, #M.log - LONGEST_LOG + 1)
  end
end

return M
