/**
 * Who the load is: a user whose rights come from a binding, so that RBAC decides on every request; and the namespace
 * that it fills.
 */
import { request } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'

export const token = 'bench'
/** Of a member of system:masters, who hands out rights. */
const adminToken = 'bench-admin'
export const namespace = 'bench'
const waitMs = 10_000

/** Lines of a token file. */
export const users: readonly string[] = [`${token},bench,1`, `${adminToken},bench-admin,2,"system:masters"`]

/** Leaves an event of every request: what is usual in clusters that are audited. */
export const auditPolicy = JSON.stringify({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules: [{ level: 'Metadata' }],
})

/**
 * Gives the user its rights and makes its namespace, unless they are there. Pods need the namespace's account: waits
 * for it.
 */
export async function prepare(url: string): Promise<void> {
  const rbac = 'rbac.authorization.k8s.io'
  await ask(url, 'POST', `/apis/${rbac}/v1/clusterrolebindings`, {
    metadata: { name: 'bench' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: 'bench' }],
  })
  await ask(url, 'POST', '/api/v1/namespaces', { metadata: { name: namespace } })
  const deadline = performance.now() + waitMs
  while ((await ask(url, 'GET', `/api/v1/namespaces/${namespace}/serviceaccounts/default`)) !== 200) {
    if (performance.now() > deadline)
      throw new Error(`namespace ${namespace} has no account default after ${waitMs} ms`)
    await delay(20)
  }
}

/** The status of the answer. Throws for one that is neither of what is wanted nor of what is there, or missing. */
function ask(url: string, method: string, path: string, body?: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' }
    const asked = request(
      new URL(path, url),
      { method, headers, rejectUnauthorized: false, agent: false },
      (response) => {
        const { statusCode = 0 } = response
        response.resume().on('end', () => {
          if (statusCode < 300 || statusCode === 404 || statusCode === 409) resolve(statusCode)
          else reject(new Error(`${method} ${path}: ${statusCode}`))
        })
      },
    )
    asked.on('error', reject)
    asked.end(body && JSON.stringify(body))
  })
}
