-- The command :Fimlsp; everything else begins with require('fimlsp').setup().
if vim.g.loaded_fimlsp then
  return
end
vim.g.loaded_fimlsp = true

vim.api.nvim_create_user_command('Fimlsp', function(command)
  require('fimlsp.commands').run(command.fargs[1], command.fargs[2])
end, {
  nargs = '*',
  desc = 'fimlsp: switches, status, log',
  complete = function(lead)
    return require('fimlsp.commands').complete(lead)
  end,
})
