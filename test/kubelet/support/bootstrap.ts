/** A bootstrap token for kubelets (kubelet TLS bootstrapping), with the rights that kubeadm gives it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, connectTo } from '../../../src/client/connection/connect-to.ts'
import { certificateSigningRequests } from '../../../src/client/kinds.ts'
import type { TestCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

export const bootstrapToken = 'abcdef.0123456789abcdef'

const binding = (name: string, role: string, group: string) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
})

/** Creates the token and its bindings, and returns the path of a kubeconfig with it. */
export async function bootstrapKubeconfig(cluster: TestCluster): Promise<string> {
  const [id = '', secret = ''] = bootstrapToken.split('.')
  await cluster.call('POST', '/api/v1/namespaces/kube-system/secrets', {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'bootstrap.kubernetes.io/token',
    metadata: { name: `bootstrap-token-${id}` },
    stringData: { 'token-id': id, 'token-secret': secret, 'usage-bootstrap-authentication': 'true' },
  })
  const approval = 'system:certificates.k8s.io:certificatesigningrequests'
  for (const one of [
    binding('create-csrs', 'system:node-bootstrapper', 'system:bootstrappers'),
    binding('approve-csrs', `${approval}:nodeclient`, 'system:bootstrappers'),
    binding('renew-csrs', `${approval}:selfnodeclient`, 'system:nodes'),
  ])
    await cluster.call('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', one)
  const file = join(cluster.folder, 'bootstrap.conf')
  const ca = Buffer.from(cluster.client.ca ?? '').toString('base64')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: cluster.url, 'certificate-authority-data': ca } }],
    users: [{ name: 'u', user: { token: bootstrapToken } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}

/** Approves the request for a serving certificate, as an operator does: no controller approves these. */
export async function approveServing(cluster: TestCluster): Promise<void> {
  const administrator: Client = await connectTo({ access: cluster.client })
  try {
    const request = await waitFor('a request for a serving certificate', async () =>
      (await administrator.list(certificateSigningRequests)).items.find(
        ({ spec }) => spec.signerName === 'kubernetes.io/kubelet-serving',
      ),
    )
    const { name = '' } = request.metadata
    await cluster.call('PUT', `/apis/certificates.k8s.io/v1/certificatesigningrequests/${name}/approval`, {
      ...request,
      status: { conditions: [{ type: 'Approved', status: 'True', reason: 'Test' }] },
    })
  } finally {
    administrator.close()
  }
}
