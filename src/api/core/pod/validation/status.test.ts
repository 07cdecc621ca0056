import assert from 'node:assert/strict'
import test from 'node:test'
import type { Pod } from '../model.ts'
import { container, errorMessages, pod } from './pod-rules.fixture.ts'
import { podStatusUpdate } from './status.ts'

test('a status that contradicts the pod is rejected', () => {
  const ended = { name: 'c', state: { terminated: { exitCode: 0 } } }
  const running = { name: 'c', state: { running: {} } }
  const update = (spec: object, status: object, old: object): string[] =>
    errorMessages(
      podStatusUpdate({ ...pod(spec), status } as unknown as Pod, { ...pod(spec), status: old } as unknown as Pod),
    )
  assert.deepEqual(
    update({ restartPolicy: 'Never' }, { containerStatuses: [running] }, { containerStatuses: [ended] }),
    ['status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state'],
  )
  assert.deepEqual(update({}, { containerStatuses: [running] }, { containerStatuses: [ended] }), [])
  const once = { containers: [container({ restartPolicy: 'Never' })] }
  assert.equal(update(once, { containerStatuses: [running] }, { containerStatuses: [ended] }).length, 1)
  const together = {
    containers: [
      container({ restartPolicy: 'Never' }),
      container({ name: 'd', restartPolicyRules: [{ action: 'RestartAllContainers' }] }),
    ],
  }
  assert.deepEqual(update(together, { containerStatuses: [running] }, { containerStatuses: [ended] }), [])
  assert.deepEqual(
    update({ nodeName: 'n' }, { nominatedNodeName: 'm', observedGeneration: -1, conditions: [{ type: '-' }] }, {}).map(
      (line) => line.slice(0, 80),
    ),
    [
      'status.conditions[0].Type: Invalid value: "-": name part must consist of alphanu',
      'status.nominatedNodeName: Forbidden: may not be set on pods that are already bou',
      'status.observedGeneration: Invalid value: -1: must be a non-negative integer',
    ],
  )
  assert.deepEqual(
    update(
      {},
      {
        extendedResourceClaimStatus: {
          requestMappings: [{ containerName: 'c', resourceName: 'r', requestName: 'q' }],
          resourceClaimName: '',
        },
      },
      {},
    ),
    [
      'status.extendedResourceClaimStatus.requestMappings[0].resourceName: Invalid value: "r": must match the ' +
        'extended resource name of an entry in spec.initContainers.resources.requests or ' +
        'spec.containers.resources.requests',
      'status.extendedResourceClaimStatus.resourceClaimName: Required value',
    ],
  )
  const failed = { name: 'c', state: { terminated: { exitCode: 1 } } }
  assert.deepEqual(
    update({ restartPolicy: 'OnFailure' }, { containerStatuses: [running] }, { containerStatuses: [failed] }),
    [],
  )
  assert.deepEqual(
    update({}, { podIPs: [{ ip: '1.2.3.4' }, { ip: '1.2.3.5' }], hostIP: '1.1.1.1', hostIPs: [{ ip: 'x' }] }, {}),
    [
      'status.podIPs: Invalid value: [{"ip":"1.2.3.4"},{"ip":"1.2.3.5"}]: may specify no more than one IP for ' +
        'each IP family',
      'status.hostIPs[0].ip: Invalid value: "x": must be equal to `hostIP`',
      'status.hostIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  )
  assert.deepEqual(update({}, { resourceClaimStatuses: [{ name: 'q' }] }, {}), [
    'status.resourceClaimStatuses[0].name: Invalid value: "q": must match the name of an entry in ' +
      '`spec.resourceClaims`',
  ])
})

test('container statuses must match the containers of the pod', () => {
  const containers = [
    container({
      resources: { requests: { 'a.example/b': '1' }, claims: [{ name: 'k' }, { name: 'k', request: 'r' }] },
    }),
  ]
  const statusErrors = (over: object, spec: object = {}, field = 'containerStatuses'): string[] => {
    const one = pod({ containers, ...spec })
    const status = { [field]: [{ name: 'c', ...over }] } as unknown as Pod['status']
    return errorMessages(podStatusUpdate({ ...one, status }, one)).map((line) =>
      line.replace(`status.${field}[0].`, ''),
    )
  }
  const linux = { uid: 1, gid: 1, supplementalGroups: [1] }
  assert.deepEqual(statusErrors({ user: { linux } }), [])
  assert.deepEqual(statusErrors({ user: { linux: { ...linux, uid: -1, supplementalGroups: [2 ** 31] } } }), [
    'user.linux.uid: Invalid value: -1: must be between 0 and 2147483647, inclusive',
    'user.linux.supplementalGroups[0]: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive',
  ])
  assert.deepEqual(statusErrors({ user: { linux } }, { os: { name: 'windows' } }), [
    'user.linux: Forbidden: cannot be set for a windows pod',
  ])
  const allocatedResourcesStatus = (name: string, ...resources: object[]): object => ({
    allocatedResourcesStatus: [{ name, resources }],
  })
  for (const name of ['a.example/b', 'claim:k', 'claim:k/r'])
    assert.deepEqual(statusErrors(allocatedResourcesStatus(name)), [])
  assert.deepEqual(statusErrors(allocatedResourcesStatus('cpu')), [
    `allocatedResourcesStatus[0].name: Invalid value: "cpu": must match one of the container's resource requests`,
  ])
  assert.deepEqual(statusErrors(allocatedResourcesStatus('claim:q')), [
    'allocatedResourcesStatus[0].name: Invalid value: "claim:q": must match one of the container\'s resource ' +
      "claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty",
  ])
  const [ill, well] = [
    { resourceID: 'x', health: 'Ill' },
    { resourceID: 'x', health: 'Healthy' },
  ]
  assert.deepEqual(statusErrors(allocatedResourcesStatus('a.example/b', ill, well)), [
    'allocatedResourcesStatus[0].resources[0].health: Unsupported value: "Ill": supported values: "Healthy", ' +
      '"Unhealthy", "Unknown"',
    'allocatedResourcesStatus[0].resources[1].resourceID: Duplicate value: "x"',
  ])
  assert.deepEqual(statusErrors(allocatedResourcesStatus('cpu'), {}, 'ephemeralContainerStatuses'), [
    'allocatedResourcesStatus: Forbidden: must not be specified in container status',
  ])
})
