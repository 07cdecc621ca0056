import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podGracePeriod } from './index.ts'
import { container, kind, pod, specErrors, statusCells, withDefaults } from './pod.fixture.ts'
import { podUpdate } from './validation/update.ts'

test('a new pod is Pending whatever its status, with a condition for scheduling gates', () => {
  const made = pod({ schedulingGates: [{ name: 'a' }] }, { phase: 'Running', podIP: '1.2.3.4' })
  kind.prepare.create(made)
  assert.equal(made.status?.phase, 'Pending')
  assert.equal(made.status?.podIP, undefined)
  assert.deepEqual(statusCells(made), ['0/1', 'SchedulingGated', '0'])
})

test('an invalid pod is rejected with the messages of upstream', () => {
  const cases: readonly (readonly [object, readonly string[]])[] = [
    [{}, []],
    [{ containers: [] }, ['spec.containers: Required value']],
    [{ containers: [container(), container()] }, ['spec.containers[1].name: Duplicate value: "c"']],
    [
      { containers: [container({ terminationMessagePolicy: 'None', imagePullPolicy: 'Sometimes' })] },
      [
        'spec.containers[0].terminationMessagePolicy: Unsupported value: "None": supported values: "File", ' +
          '"FallbackToLogsOnError"',
        'spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", ' +
          '"IfNotPresent", "Never"',
      ],
    ],
    [
      { containers: [container({ ports: [{ containerPort: 0 }, { containerPort: 65536 }] })] },
      [
        'spec.containers[0].ports[0].containerPort: Required value',
        'spec.containers[0].ports[1].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive',
      ],
    ],
    [
      {
        containers: [
          container({
            ports: [
              { containerPort: 1, hostPort: 80 },
              { containerPort: 2, hostPort: 80 },
            ],
          }),
        ],
      },
      ['spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//80"'],
    ],
    [
      { hostNetwork: true, containers: [container({ ports: [{ containerPort: 80, hostPort: 81 }] })] },
      [
        'spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` ' +
          'is true',
      ],
    ],
    [
      { containers: [container({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } })] },
      ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
    ],
    [
      { containers: [container({ resources: { requests: { 'hugepages-2Mi': '3Mi' } } })] },
      [
        'spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources',
        'spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer ' +
          'multiple of hugepages-2Mi',
        'spec.containers[0].resources: Forbidden: HugePages require cpu or memory',
      ],
    ],
    [
      { containers: [container({ resources: { requests: { gpu: '1' } } })] },
      [
        'spec.containers[0].resources.requests[gpu]: Invalid value: "gpu": must be a standard resource type or ' +
          'fully qualified',
        'spec.containers[0].resources.requests[gpu]: Invalid value: "gpu": must be a standard resource for containers',
      ],
    ],
    [
      { containers: [container({ livenessProbe: {} })] },
      ['spec.containers[0].livenessProbe: Required value: must specify a handler type'],
    ],
    [
      { containers: [container({ livenessProbe: { exec: { command: [] }, successThreshold: 2 } })] },
      [
        'spec.containers[0].livenessProbe.exec.command: Required value',
        'spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1',
      ],
    ],
    [
      { initContainers: [container({ name: 'i', livenessProbe: { exec: { command: ['a'] } } })] },
      [
        'spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without ' +
          'restartPolicy=Always',
      ],
    ],
    [
      {
        containers: [
          container({
            env: [{ name: '' }, { name: 'X', value: 'v', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
          }),
        ],
      },
      [
        'spec.containers[0].env[0].name: Required value',
        'spec.containers[0].env[1].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
      ],
    ],
    [
      { containers: [container({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.containers' } } }] })] },
      [
        'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.containers": error ' +
          'converting fieldPath: field label not supported: spec.containers',
      ],
    ],
    [
      { restartPolicy: 'Sometimes' },
      ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
    ],
    [
      { activeDeadlineSeconds: 0 },
      ['spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive'],
    ],
    [{ dnsPolicy: 'None' }, ['spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None']],
    [
      { os: { name: 'windows' }, securityContext: { runAsUser: 1 }, hostPID: true },
      [
        'spec.hostPID: Forbidden: cannot be set for a windows pod',
        'spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod',
      ],
    ],
    [
      { volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/x' } }] },
      ['spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type'],
    ],
    [{ volumes: [{ name: 'v', configMap: {} }] }, ['spec.volumes[0].configMap.name: Required value']],
    [
      {
        volumes: [
          {
            name: 'v',
            projected: {
              sources: [
                { secret: { name: 's', items: [{ key: 'k', path: 'same' }] } },
                { configMap: { name: 'm', items: [{ key: 'k', path: 'same' }] } },
              ],
            },
          },
        ],
      },
      ['spec.volumes[0].projected: Invalid value: "m": conflicting duplicate paths'],
    ],
    [
      { volumes: [{ name: 'v' }], containers: [container({ volumeMounts: [{ name: 'other', mountPath: '/a' }] })] },
      ['spec.containers[0].volumeMounts[0].name: Not found: "other"'],
    ],
    [
      { tolerations: [{ operator: 'Equal' }] },
      [
        'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, ' +
          'which means "match all values and all keys"',
      ],
    ],
    [
      { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } } },
      [
        'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required ' +
          'value: must have at least one node selector term',
      ],
    ],
  ]
  for (const [spec, expected] of cases) assert.deepEqual(specErrors(spec), expected)
})

test('a pod update may change images, deadlines, tolerations and scheduling gates only', () => {
  const base = {
    activeDeadlineSeconds: 50,
    tolerations: [{ key: 'a', operator: 'Exists' }],
    initContainers: [container({ name: 'i' })],
  }
  const old = withDefaults(base)
  const change = (over: object): string[] =>
    podUpdate(withDefaults({ ...base, ...over }), old).map(
      ({ field, message }) => `${field}: ${message.split('\n')[0]}`,
    )
  assert.deepEqual(change({}), [])
  assert.deepEqual(change({ containers: [container({ image: 'app:1', imagePullPolicy: 'IfNotPresent' })] }), [])
  assert.deepEqual(change({ activeDeadlineSeconds: 60 }), [
    'spec.activeDeadlineSeconds: Invalid value: 60: must be less than or equal to previous value',
  ])
  assert.deepEqual(change({ activeDeadlineSeconds: undefined }), [
    'spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value',
  ])
  assert.deepEqual(change({ tolerations: [] }), [
    'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
  ])
  assert.deepEqual(change({ containers: [container(), container({ name: 'd' })] }), [
    'spec.containers: Forbidden: pod updates may not add or remove containers',
  ])
  assert.match(
    change({ restartPolicy: 'Never' })[0] ?? '',
    /^spec: Forbidden: pod updates may not change fields other than .*previously negative\)$/,
  )
})

test('the grace period is 0 for a pod that is not running on a node', () => {
  const on = { nodeName: 'n', terminationGracePeriodSeconds: 30 }
  const cases: readonly (readonly [object, object, number | undefined, number])[] = [
    [{}, {}, undefined, 0],
    [on, {}, undefined, 30],
    [on, {}, 5, 5],
    [on, {}, -1, 1],
    [on, { phase: 'Failed' }, undefined, 0],
  ]
  for (const [spec, status, requested, expected] of cases)
    assert.equal(podGracePeriod(pod(spec, status), requested), expected)
})

test('a status write keeps observedGeneration that it omits', () => {
  const condition = (type: string, observedGeneration?: number): object => ({
    type,
    status: 'True',
    ...(observedGeneration !== undefined && { observedGeneration }),
  })
  const old = pod(
    {},
    {
      qosClass: 'Burstable',
      observedGeneration: 3,
      conditions: [condition('A', 1), condition('A', 2), condition('B', 2)],
    },
  )
  const written = pod({}, { conditions: [condition('A'), condition('B', 3), condition('A'), condition('C')] })
  kind.prepare.status(written, old)
  assert.deepEqual(written.status, {
    qosClass: 'Burstable',
    observedGeneration: 3,
    conditions: [condition('A', 1), condition('B', 3), condition('A', 2), condition('C')],
  })
  assert.equal(old.status?.conditions?.length, 3)
})
