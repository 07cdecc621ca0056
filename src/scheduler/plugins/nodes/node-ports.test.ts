import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../client/kinds.ts'
import type { ObjectMeta } from '../../../machinery/object.ts'
import { aNode, aPod } from '../../testing/objects.fixture.ts'
import { mayHelp } from '../../testing/try-hint.fixture.ts'
import { filterWith } from '../../testing/try-plugin.fixture.ts'
import { nodePorts } from './node-ports.ts'

const taken = "node(s) didn't have free ports for the requested pod ports"

/** A pod with host ports: `80`, `UDP/80`, `10.0.0.1:80`. */
function taking(name: string, ports: readonly string[], nodeName?: string, metadata: Partial<ObjectMeta> = {}): Pod {
  const list = ports.map((text) => {
    const [, protocol, hostIP, number] = /^(?:([A-Z]+)\/)?(?:(.+):)?(\d+)$/.exec(text) ?? []
    return { containerPort: 1, hostPort: Number(number), ...(protocol && { protocol }), ...(hostIP && { hostIP }) }
  })
  return aPod(name, { nodeName, containers: [{ name: 'c', image: 'i', ports: list }] }, metadata)
}

test('a pod fits where its host ports are free', () => {
  const cases: [string[], string[], string][] = [
    [[], ['80'], ''],
    [['80'], [], ''],
    [['80'], ['80'], taken],
    [['80'], ['UDP/80'], ''],
    [['127.0.0.1:80'], ['80'], taken],
    [['80'], ['127.0.0.1:80'], taken],
    [['127.0.0.1:80'], ['127.0.0.2:80'], ''],
    [['80', '443'], ['8080', '443'], taken],
  ]
  for (const [wanted, used, expected] of cases) {
    const cluster = { nodes: [aNode('n'), aNode('m')], pods: [taking('there', used, 'n')] }
    assert.deepEqual(
      filterWith(nodePorts, taking('p', wanted), cluster),
      { n: expected, m: '' },
      `${wanted} beside ${used}`,
    )
  }
})

test('hints: deleted pods with one of the ports, and new nodes, may help', () => {
  const pod = taking('p', ['80'])
  const deleted = (before: Pod) => mayHelp(nodePorts, pod, { resource: 'Pod', action: 'Delete', before })
  assert.equal(deleted(taking('q', ['80'], 'n')), true)
  assert.equal(deleted(taking('q', ['81'], 'n')), false)
  assert.equal(deleted(taking('q', [], 'n')), false)
  assert.equal(deleted(taking('q', ['80'])), false)
  assert.equal(deleted({ ...taking('q', ['80']), status: { nominatedNodeName: 'n' } }), true)
  assert.equal(mayHelp(nodePorts, pod, { resource: 'Node', action: 'Add', after: aNode('n') }), true)
})
