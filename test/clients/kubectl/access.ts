/** Permissions, `whoami`, and the message for missing metrics. */
import assert from 'node:assert/strict'
import type { Stops } from './stop.ts'

export const accessStops: Stops = {
  'auth can-i asks the server': async (k) => {
    await k.ok('auth can-i create pods', 'yes\n')
    await k.ok(`auth can-i '*' '*' --all-namespaces`, 'yes\n')
    await k.ok('auth can-i get /healthz', 'yes\n')
    assert.match(
      await k.ok('auth can-i --list'),
      /^Resources +Non-Resource URLs +Resource Names +Verbs\n[\s\S]*\*\.\* +\[\] +\[\] +\[\*\]/,
    )
    if (k.program.minor >= 28)
      assert.match(await k.ok('auth whoami'), /^ATTRIBUTE +VALUE\nUsername +[\s\S]*system:masters/)
  },

  'requests impersonate other users': async (k) => {
    if (k.program.minor >= 28)
      assert.match(
        await k.ok('auth whoami --as=jane --as-group=readers'),
        /^ATTRIBUTE +VALUE\nUsername +jane\nGroups +\[readers system:authenticated\]\n/,
      )
    const role = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: reader, namespace: ${k.namespace} }
rules: [{ apiGroups: [""], resources: [pods], verbs: [get] }]
`
    await k.ok('auth reconcile -f -', /^role\.rbac\.authorization\.k8s\.io\/reader reconciled\n/, { input: role })
    await k.ok('get role reader -o jsonpath={.rules[0].resources}', '["pods"]')
  },

  'top reports that metrics are missing': async (k) => {
    await k.fails('top nodes', /Metrics API not available/)
  },
}
