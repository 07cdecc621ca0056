/** The user of the load, whose rights come from a binding, so that RBAC decides on every request; and its namespace. */
import { request } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'

export const token = 'bench'
/** Token of a member of system:masters, which grants rights. */
const adminToken = 'bench-admin'
export const namespace = 'bench'
const waitMs = 10_000

/** Lines of a token file. */
export const users: readonly string[] = [`${token},bench,1`, `${adminToken},bench-admin,2,"system:masters"`]

/** Records an event for every request, as usual in audited clusters. */
export const auditPolicy = JSON.stringify({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules: [{ level: 'Metadata' }],
})

/** As `grantRights`. Waits for the service account of the namespace, which pods need. */
export async function prepare(url: string): Promise<void> {
  await grantRights(url)
  const deadline = performance.now() + waitMs
  while ((await send(url, 'GET', `/api/v1/namespaces/${namespace}/serviceaccounts/default`)) !== 200) {
    if (performance.now() > deadline)
      throw new Error(`namespace ${namespace} has no account default after ${waitMs} ms`)
    await delay(20)
  }
}

/** Grants the user its rights and creates its namespace, if they are missing. */
export async function grantRights(url: string): Promise<void> {
  const rbac = 'rbac.authorization.k8s.io'
  await send(url, 'POST', `/apis/${rbac}/v1/clusterrolebindings`, {
    metadata: { name: 'bench' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: 'bench' }],
  })
  await send(url, 'POST', '/api/v1/namespaces', { metadata: { name: namespace } })
}

/** Returns the status of the response. Throws unless it is a success, 404 or 409. */
function send(url: string, method: string, path: string, body?: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' }
    const sent = request(
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
    sent.on('error', reject)
    sent.end(body && JSON.stringify(body))
  })
}
