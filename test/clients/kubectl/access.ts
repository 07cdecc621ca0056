/** Who may do what, who one is. */
import assert from 'node:assert/strict'
import type { Stops } from './stop.ts'

export const accessStops: Stops = {
  'auth can-i asks the server': async (k) => {
    await k.ok('auth can-i create pods', 'yes\n')
    await k.ok(`auth can-i '*' '*' --all-namespaces`, 'yes\n')
    await k.ok('auth can-i get /healthz', 'yes\n')
    assert.match(await k.ok('auth can-i --list'), /^Resources +Non-Resource URLs +Resource Names +Verbs\n[\s\S]*\*\.\* +\[\] +\[\] +\[\*\]/)
    if (k.program.minor >= 28) assert.match(await k.ok('auth whoami'), /^ATTRIBUTE +VALUE\nUsername +[\s\S]*system:masters/)
  },

  'top says that there are no metrics': async (k) => {
    await k.fails('top nodes', /Metrics API not available/)
  },
}
