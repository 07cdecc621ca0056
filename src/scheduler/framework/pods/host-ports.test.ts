import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../client/kinds.ts'
import { type HostPort, hostPortsOf, portsClash } from './host-ports.ts'

/** Parses `UDP/127.0.0.1:80`. Default: TCP and all addresses. */
function port(text: string): HostPort {
  const [, protocol = 'TCP', ip = '0.0.0.0', number] = /^(?:([A-Z]+)\/)?(?:(.+):)?(\d+)$/.exec(text) ?? []
  return { ip, protocol, port: Number(number) }
}

test('host ports conflict by number, protocol and address', () => {
  const cases: [string[], string[], boolean][] = [
    [[], ['80'], false],
    [['80'], ['81'], false],
    [['80'], ['80'], true],
    [['80'], ['UDP/80'], false],
    [['127.0.0.1:80'], ['127.0.0.2:80'], false],
    [['127.0.0.1:80'], ['127.0.0.1:80'], true],
    [['127.0.0.1:80'], ['80'], true],
    [['80'], ['127.0.0.1:80'], true],
    [['80', '81'], ['82', '81'], true],
    [['80'], [], false],
  ]
  for (const [taken, wanted, expected] of cases)
    assert.equal(portsClash(wanted.map(port), taken.map(port)), expected, `${wanted} beside ${taken}`)
})

test('containers and sidecars use host ports, init containers do not', () => {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {},
    spec: {
      initContainers: [
        { name: 'i', ports: [{ containerPort: 1, hostPort: 1 }] },
        { name: 's', restartPolicy: 'Always', ports: [{ containerPort: 2, hostPort: 2, protocol: 'UDP' }] },
      ],
      containers: [
        { name: 'c', ports: [{ containerPort: 3 }, { containerPort: 4, hostPort: 4, hostIP: '10.0.0.1' }] },
        { name: 'd' },
      ],
    },
  }
  assert.deepEqual(hostPortsOf(pod), [port('10.0.0.1:4'), port('UDP/2')])
})
