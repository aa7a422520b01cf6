-- For lualine: sections = { lualine_x = { 'fimlsp' } }
local Component = require('lualine.component'):extend()

function Component:update_status()
  return require('fimlsp.status').text()
end

return Component
