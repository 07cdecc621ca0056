import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell, ResourceDefinition } from '../../resource.ts'
import { podColumns, podRowConditions } from './columns.ts'
import { podDefaults, podTemplateDefaults } from './defaults/pod-defaults.ts'
import { podGracePeriod, pods } from './index.ts'
import type { Pod, PodSpec } from './model.ts'
import { qosClass } from './resources/qos.ts'
import { podSpec } from './validation/spec.ts'
import { podUpdate } from './validation/update.ts'

const kind = pods as unknown as ResourceDefinition & {
  prepare: { create: (pod: Pod) => void; status: (pod: Pod, old: Pod) => void }
}
const pod = (spec: object = {}, status?: object, metadata: object = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', ...metadata },
    spec: { containers: [{ name: 'c', image: 'app:1' }], ...spec },
    status,
  }) as unknown as Pod
const complete = (spec: object): Pod => {
  const made = structuredClone(pod(spec))
  podDefaults(made)
  return made
}
const wrong = (spec: object): string[] =>
  podSpec(complete(spec).spec as PodSpec, 'spec').map(({ field, message }) => `${field}: ${message}`)
const c = (over: object = {}): object => ({ name: 'c', image: 'app:1', ...over })

const ago = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString()
const state = (name: string, value: object, more: object = {}): object => ({
  name,
  image: 'i',
  imageID: '',
  ready: false,
  restartCount: 0,
  state: value,
  ...more,
})
const running = { running: { startedAt: ago(60) } }
const ready = { ready: true }
const done = (exitCode: number, reason?: string, signal?: number): object => ({
  terminated: { exitCode, reason, signal },
})
const waiting = (reason: string): object => ({ waiting: { reason } })
const two = { containers: [c(), c({ name: 'side' })] }
const inits = { initContainers: [c({ name: 'i1' }), c({ name: 'i2' })] }
const last = { lastState: { terminated: { exitCode: 1, finishedAt: '2024-01-01T00:00:00Z' } } }
const Ready = [{ type: 'Ready', status: 'True' }]

/** The cells of READY, STATUS and RESTARTS. */
const shown = (given: Pod): Cell[] => podColumns.slice(1, 4).map((column) => column.cell(given))

test('READY, STATUS and RESTARTS follow from the container statuses', () => {
  const cases: readonly (readonly [Pod, string, string, Cell])[] = [
    [pod({}, { phase: 'Pending' }), '0/1', 'Pending', '0'],
    [
      pod({}, { phase: 'Pending', containerStatuses: [state('c', waiting('ImagePullBackOff'))] }),
      '0/1',
      'ImagePullBackOff',
      '0',
    ],
    [
      pod({}, { phase: 'Running', containerStatuses: [state('c', running, { ...ready, restartCount: 3 })] }),
      '1/1',
      'Running',
      '3',
    ],
    [
      pod({}, { phase: 'Running', containerStatuses: [state('c', running, { ...ready, restartCount: 3, ...last })] }),
      '1/1',
      'Running',
      { since: '2024-01-01T00:00:00Z', prefix: '3 (', suffix: ' ago)' },
    ],
    [pod({}, { phase: 'Failed', containerStatuses: [state('c', done(3))] }), '0/1', 'ExitCode:3', '0'],
    [pod({}, { phase: 'Failed', containerStatuses: [state('c', done(137, undefined, 9))] }), '0/1', 'Signal:9', '0'],
    [pod({}, { phase: 'Failed', reason: 'Evicted' }), '0/1', 'Evicted', '0'],
    [
      pod(two, {
        phase: 'Running',
        conditions: Ready,
        containerStatuses: [state('c', done(0, 'Completed')), state('side', running, ready)],
      }),
      '1/2',
      'Running',
      '0',
    ],
    [
      pod(two, {
        phase: 'Running',
        containerStatuses: [state('c', done(0, 'Completed')), state('side', running, ready)],
      }),
      '1/2',
      'NotReady',
      '0',
    ],
    [
      pod(two, {
        phase: 'Running',
        containerStatuses: [
          state('c', waiting('CrashLoopBackOff'), { restartCount: 4 }),
          state('side', done(1, 'Error')),
        ],
      }),
      '0/2',
      'CrashLoopBackOff',
      '4',
    ],
    [
      pod(inits, {
        phase: 'Pending',
        initContainerStatuses: [state('i1', done(0, 'Completed')), state('i2', running)],
      }),
      '0/1',
      'Init:1/2',
      '0',
    ],
    [
      pod(inits, {
        phase: 'Pending',
        initContainerStatuses: [state('i1', done(1, 'Error'), { restartCount: 2 })],
        containerStatuses: [state('c', waiting('PodInitializing'), { restartCount: 7 })],
      }),
      '0/1',
      'Init:Error',
      '2',
    ],
    [pod(inits, { phase: 'Pending', initContainerStatuses: [state('i1', done(2))] }), '0/1', 'Init:ExitCode:2', '0'],
    [
      pod(
        { initContainers: [c({ name: 'i', restartPolicy: 'Always' })] },
        {
          phase: 'Running',
          initContainerStatuses: [state('i', running, { ready: true, started: true, restartCount: 1 })],
          containerStatuses: [state('c', running, ready)],
        },
      ),
      '2/2',
      'Running',
      '1',
    ],
    [
      pod({}, { phase: 'Running', containerStatuses: [state('c', running, ready)] }, { deletionTimestamp: ago(1) }),
      '1/1',
      'Terminating',
      '0',
    ],
    [pod({}, { phase: 'Running', reason: 'NodeLost' }, { deletionTimestamp: ago(1) }), '0/1', 'Unknown', '0'],
  ]
  for (const [given, ...expected] of cases) assert.deepEqual(shown(given), expected)
  assert.equal(podRowConditions(pod({}, { phase: 'Succeeded' }))[0]?.reason, 'Succeeded')
  assert.deepEqual(
    podColumns
      .slice(5)
      .map((column) =>
        column.cell(
          pod(
            { readinessGates: [{ conditionType: 'a' }, { conditionType: 'b' }] },
            { conditions: [{ type: 'a', status: 'True' }] },
          ),
        ),
      ),
    ['<none>', '<none>', '<none>', '1/2'],
  )
})

test('a pod gets the defaults of upstream', () => {
  const { spec } = complete({ containers: [{ name: 'c', image: 'nginx' }] })
  assert.deepEqual(spec, {
    containers: [
      {
        image: 'nginx',
        imagePullPolicy: 'Always',
        name: 'c',
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
      },
    ],
    dnsPolicy: 'ClusterFirst',
    enableServiceLinks: true,
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  })
  const template = { spec: { containers: [] } }
  podTemplateDefaults(template)
  assert.equal('enableServiceLinks' in template.spec, false)
  const probes = complete({
    containers: [
      c({ livenessProbe: { httpGet: { port: 80 } }, readinessProbe: { grpc: { port: 9 }, periodSeconds: 3 } }),
    ],
  }).spec?.containers[0]
  assert.deepEqual(probes?.livenessProbe, {
    failureThreshold: 3,
    httpGet: { path: '/', port: 80, scheme: 'HTTP' },
    periodSeconds: 10,
    successThreshold: 1,
    timeoutSeconds: 1,
  })
  assert.deepEqual(probes?.readinessProbe, {
    failureThreshold: 3,
    grpc: { port: 9, service: '' },
    periodSeconds: 3,
    successThreshold: 1,
    timeoutSeconds: 1,
  })
  const host = complete({ hostNetwork: true, containers: [c({ ports: [{ containerPort: 80 }] })] }).spec?.containers[0]
    ?.ports
  assert.deepEqual(host, [{ containerPort: 80, hostPort: 80, protocol: 'TCP' }])
})

test('volumes get the defaults of their type', () => {
  const volumes = complete({
    volumes: [
      { name: 'v' },
      { name: 's', secret: { secretName: 'x' } },
      { name: 'h', hostPath: { path: '/x' } },
      {
        name: 'p',
        projected: {
          sources: [
            { serviceAccountToken: { path: 't' } },
            { downwardAPI: { items: [{ path: 'n', fieldRef: { fieldPath: 'metadata.name' } }] } },
          ],
        },
      },
      { name: 'e', ephemeral: { volumeClaimTemplate: { spec: {} } } },
    ],
  }).spec?.volumes
  assert.deepEqual(volumes, [
    { name: 'v', emptyDir: {} },
    { name: 's', secret: { secretName: 'x', defaultMode: 420 } },
    { name: 'h', hostPath: { path: '/x', type: '' } },
    {
      name: 'p',
      projected: {
        defaultMode: 420,
        sources: [
          { serviceAccountToken: { path: 't', expirationSeconds: 3600 } },
          { downwardAPI: { items: [{ path: 'n', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } }] } },
        ],
      },
    },
    {
      name: 'e',
      ephemeral: { volumeClaimTemplate: { metadata: {}, spec: { resources: {}, volumeMode: 'Filesystem' } } },
    },
  ])
})

test('requests default to limits, and both determine the QoS class', () => {
  const of = (...list: object[]): [string, object | undefined] => {
    const { spec } = complete({ containers: list.map((resources, i) => c({ name: `c${i}`, resources })) })
    return [qosClass(spec as PodSpec), spec?.containers[0]?.resources]
  }
  assert.deepEqual(of({ limits: { cpu: '0.5', memory: '1024Ki' } }), [
    'Guaranteed',
    { limits: { cpu: '500m', memory: '1Mi' }, requests: { cpu: '500m', memory: '1Mi' } },
  ])
  assert.deepEqual(of({ requests: { memory: '1e6', cpu: '1u' } }), [
    'Burstable',
    { requests: { cpu: '1m', memory: '1e6' } },
  ])
  assert.deepEqual(of({ limits: { cpu: '1', memory: '1Gi' } }, {})[0], 'Burstable')
  assert.deepEqual(of({ requests: { cpu: '0', memory: '0' } })[0], 'BestEffort')
  assert.deepEqual(of({ requests: { 'ephemeral-storage': '1G' } })[0], 'BestEffort')
  assert.deepEqual(
    of({ limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1000m', memory: '1024Mi' } })[0],
    'Guaranteed',
  )
})

test('a new pod is Pending whatever its status, with a condition for scheduling gates', () => {
  const made = pod({ schedulingGates: [{ name: 'a' }] }, { phase: 'Running', podIP: '1.2.3.4' })
  kind.prepare.create(made)
  assert.equal(made.status?.phase, 'Pending')
  assert.equal(made.status?.podIP, undefined)
  assert.deepEqual(shown(made), ['0/1', 'SchedulingGated', '0'])
})

test('an invalid pod is rejected with the messages of upstream', () => {
  const cases: readonly (readonly [object, readonly string[]])[] = [
    [{}, []],
    [{ containers: [] }, ['spec.containers: Required value']],
    [{ containers: [c(), c()] }, ['spec.containers[1].name: Duplicate value: "c"']],
    [
      { containers: [c({ terminationMessagePolicy: 'None', imagePullPolicy: 'Sometimes' })] },
      [
        'spec.containers[0].terminationMessagePolicy: Unsupported value: "None": supported values: "File", ' +
          '"FallbackToLogsOnError"',
        'spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", ' +
          '"IfNotPresent", "Never"',
      ],
    ],
    [
      { containers: [c({ ports: [{ containerPort: 0 }, { containerPort: 65536 }] })] },
      [
        'spec.containers[0].ports[0].containerPort: Required value',
        'spec.containers[0].ports[1].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive',
      ],
    ],
    [
      {
        containers: [
          c({
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
      { hostNetwork: true, containers: [c({ ports: [{ containerPort: 80, hostPort: 81 }] })] },
      [
        'spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` ' +
          'is true',
      ],
    ],
    [
      { containers: [c({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } })] },
      ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
    ],
    [
      { containers: [c({ resources: { requests: { 'hugepages-2Mi': '3Mi' } } })] },
      [
        'spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources',
        'spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer ' +
          'multiple of hugepages-2Mi',
        'spec.containers[0].resources: Forbidden: HugePages require cpu or memory',
      ],
    ],
    [
      { containers: [c({ resources: { requests: { gpu: '1' } } })] },
      [
        'spec.containers[0].resources.requests[gpu]: Invalid value: "gpu": must be a standard resource type or ' +
          'fully qualified',
        'spec.containers[0].resources.requests[gpu]: Invalid value: "gpu": must be a standard resource for containers',
      ],
    ],
    [
      { containers: [c({ livenessProbe: {} })] },
      ['spec.containers[0].livenessProbe: Required value: must specify a handler type'],
    ],
    [
      { containers: [c({ livenessProbe: { exec: { command: [] }, successThreshold: 2 } })] },
      [
        'spec.containers[0].livenessProbe.exec.command: Required value',
        'spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1',
      ],
    ],
    [
      { initContainers: [c({ name: 'i', livenessProbe: { exec: { command: ['a'] } } })] },
      [
        'spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without ' +
          'restartPolicy=Always',
      ],
    ],
    [
      {
        containers: [
          c({
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
      { containers: [c({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.containers' } } }] })] },
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
      { volumes: [{ name: 'v' }], containers: [c({ volumeMounts: [{ name: 'other', mountPath: '/a' }] })] },
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
  for (const [spec, expected] of cases) assert.deepEqual(wrong(spec), expected)
})

test('a pod update may change images, deadlines, tolerations and scheduling gates only', () => {
  const base = {
    activeDeadlineSeconds: 50,
    tolerations: [{ key: 'a', operator: 'Exists' }],
    initContainers: [c({ name: 'i' })],
  }
  const old = complete(base)
  const change = (over: object): string[] =>
    podUpdate(complete({ ...base, ...over }), old).map(({ field, message }) => `${field}: ${message.split('\n')[0]}`)
  assert.deepEqual(change({}), [])
  assert.deepEqual(change({ containers: [c({ image: 'app:1', imagePullPolicy: 'IfNotPresent' })] }), [])
  assert.deepEqual(change({ activeDeadlineSeconds: 60 }), [
    'spec.activeDeadlineSeconds: Invalid value: 60: must be less than or equal to previous value',
  ])
  assert.deepEqual(change({ activeDeadlineSeconds: undefined }), [
    'spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value',
  ])
  assert.deepEqual(change({ tolerations: [] }), [
    'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
  ])
  assert.deepEqual(change({ containers: [c(), c({ name: 'd' })] }), [
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
