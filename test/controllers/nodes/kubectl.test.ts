/** Manual node operations with every installed kubectl. */
import { after, test } from 'node:test'
import type { Pod } from '../../../src/client/kinds.ts'
import { installedKubectls, Kubectl } from '../../support/kubectl.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

const strategic = 'application/strategic-merge-patch+json'
const cluster = testCluster({ after })

for (const program of installedKubectls())
  test(`kubectl ${program.version} cordons, drains, uncordons and taints`, async () => {
    const { call, kubeconfigFile, folder } = await cluster
    const [node, namespace] = [`node-${program.minor}`, `kubectl-${program.minor}`]
    const kubectl = new Kubectl(program, kubeconfigFile, folder, namespace)
    const core = `/api/v1/namespaces/${namespace}`
    await kubectl.ok(`create namespace ${namespace}`)
    await waitFor('the account', () => call('GET', `${core}/serviceaccounts/default`))
    await call('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: node } })
    await call(
      'PATCH',
      `/api/v1/nodes/${node}/status`,
      { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
      strategic,
    )
    const taints = (): Promise<string> => kubectl.ok(`get node ${node} -o 'jsonpath={.spec.taints[*].key}'`)
    const run = (name: string) =>
      call('POST', `${core}/pods`, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name },
        spec: { nodeName: node, containers: [{ name: 'c', image: 'i' }] },
      })
    await waitFor('the node to be ready', async () => (await taints()) === '')

    await kubectl.ok(`cordon ${node}`, `node/${node} cordoned\n`)
    await waitFor('its taint', async () => (await taints()) === 'node.kubernetes.io/unschedulable')
    await run('drained')
    const draining = kubectl.run(`drain ${node} --force --timeout 20s`)
    await waitFor(
      'the eviction',
      async () => ((await call('GET', `${core}/pods/drained`)) as unknown as Pod).metadata.deletionTimestamp,
    )
    await call('DELETE', `${core}/pods/drained?gracePeriodSeconds=0`)
    const { code, stdout, stderr } = await draining
    if (code !== 0 || !stdout.includes(`node/${node} drained`)) throw new Error(`drain: ${stdout}${stderr}`)
    await kubectl.ok(`uncordon ${node}`, `node/${node} uncordoned\n`)
    await waitFor('the taint to be removed', async () => (await taints()) === '')

    await run('tainted')
    await kubectl.ok(`taint node ${node} k=v:NoExecute`, `node/${node} tainted\n`)
    await waitFor(
      'the pod to be deleted',
      async () => ((await call('GET', `${core}/pods/tainted`)) as unknown as Pod).metadata.deletionTimestamp,
    )
    await kubectl.ok(`taint node ${node} k:NoExecute-`, `node/${node} untainted\n`)
  })
