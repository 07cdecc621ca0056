/** Who may do what, who one is, tokens, and requests that reach no pod yet. */
import assert from 'node:assert/strict'
import { pod } from './manifests.ts'
import type { Stops } from './stop.ts'

export const accessStops: Stops = {
  'auth can-i asks the server': async (k) => {
    await k.ok('auth can-i create pods', 'yes\n')
    await k.ok(`auth can-i '*' '*' --all-namespaces`, 'yes\n')
    await k.ok('auth can-i get /healthz', 'yes\n')
    assert.match(await k.ok('auth can-i --list'), /^Resources +Non-Resource URLs +Resource Names +Verbs\n[^]*\*\.\* +\[\] +\[\] +\[\*\]/)
    if (k.program.minor >= 28) assert.match(await k.ok('auth whoami'), /^ATTRIBUTE +VALUE\nUsername +[^]*system:masters/)
  },

  'requests to a pod without a node are refused as they should be': async (k) => {
    await k.ok('create -f -', undefined, { input: pod('web') })
    await k.fails('exec web -- true', /pod web does not have a host assigned/)
    await k.fails('attach web', /pod web does not have a host assigned|unable to upgrade connection|is not running/)
  },

  'top says that there are no metrics': async (k) => {
    await k.fails('top nodes', /Metrics API not available/)
  },
}
