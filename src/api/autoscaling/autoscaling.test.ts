import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../machinery/object.ts'
import { resources } from './index.ts'

const [v2, v1] = resources as [(typeof resources)[number], (typeof resources)[number]]
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
const scaler = (
  spec: object = {},
  status?: object,
  metadata: object = {},
  version = 'v2',
): KubeObject & Record<string, unknown> =>
  structuredClone({
    apiVersion: `autoscaling/${version}`,
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'x', ...metadata },
    spec: { scaleTargetRef, maxReplicas: 5, ...spec },
    status,
  }) as unknown as KubeObject & Record<string, unknown>
const complete = (spec: object = {}): KubeObject & { spec: Record<string, unknown> } => {
  const created = scaler(spec)
  for (const defaults of v2.defaults ?? []) if (typeof defaults === 'function') defaults(created)
  return created as unknown as KubeObject & { spec: Record<string, unknown> }
}
const validationErrors = (spec: object): string[] =>
  (v2.validate?.create?.(complete(spec)) ?? []).map(({ field, message }) => `${field}: ${message}`)
const cpu = (target: object): object => ({ type: 'Resource', resource: { name: 'cpu', target } })
const memory = {
  type: 'Resource',
  resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '500Mi' } },
}
const rest = [
  memory,
  {
    type: 'ContainerResource',
    containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 70 } },
  },
  { type: 'Pods', pods: { metric: { name: 'packets' }, target: { type: 'AverageValue', averageValue: '1k' } } },
  {
    type: 'Object',
    object: {
      metric: { name: 'requests', selector: { matchLabels: { a: 'b' } } },
      describedObject: { apiVersion: 'v1', kind: 'Service', name: 's' },
      target: { type: 'Value', value: '2k' },
    },
  },
  { type: 'External', external: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '30' } } },
]

test('an autoscaler defaults to the CPU metric, and missing fields of behavior get defaults', () => {
  assert.deepEqual(complete().spec, {
    scaleTargetRef,
    maxReplicas: 5,
    minReplicas: 1,
    metrics: [cpu({ type: 'Utilization', averageUtilization: 80 })],
  })
  const scaleDown = {
    stabilizationWindowSeconds: 60,
    selectPolicy: 'Min',
    policies: [{ type: 'Pods', value: 4, periodSeconds: 60 }],
  }
  assert.deepEqual(complete({ behavior: { scaleDown } }).spec.behavior, {
    scaleDown,
    scaleUp: {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [
        { type: 'Pods', value: 4, periodSeconds: 15 },
        { type: 'Percent', value: 100, periodSeconds: 15 },
      ],
    },
  })
})

test('TARGETS shows current and target values', () => {
  const targets = (metrics: object[], currentMetrics?: object[]): unknown =>
    v2.columns?.[2]?.cell(scaler({ metrics }, { currentMetrics }))
  assert.equal(targets([cpu({ type: 'Utilization', averageUtilization: 75 })]), 'cpu: <unknown>/75%')
  assert.equal(
    targets(
      [cpu({ type: 'Utilization', averageUtilization: 75 })],
      [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 41, averageValue: '205m' } } }],
    ),
    'cpu: 41%/75%',
  )
  assert.equal(
    targets([memory], [{ type: 'Resource', resource: { name: 'memory', current: { averageValue: '300Mi' } } }]),
    'memory: 300Mi/500Mi',
  )
  assert.equal(targets(rest.slice(2)), '<unknown>/1k, <unknown>/2k + 1 more...')
  assert.equal(targets(rest.slice(4)), '<unknown>/30 (avg)')
  assert.deepEqual(
    v2.columns
      ?.map((column) => column.cell(scaler({ minReplicas: 2, metrics: [memory] }, { currentReplicas: 3 })))
      .slice(1),
    ['Deployment/web', 'memory: <unknown>/500Mi', '2', 5, 3, { since: undefined }],
  )
})

test('fields that v1 lacks convert to annotations and back', () => {
  const stored = scaler(
    {
      minReplicas: 1,
      metrics: [cpu({ type: 'Utilization', averageUtilization: 60 }), ...rest],
      behavior: { scaleDown: { policies: [{ type: 'Pods', value: 4, periodSeconds: 60 }] } },
    },
    { desiredReplicas: 0 },
    { annotations: { own: 'yes' } },
  )
  const shown = v1.storedAs?.fromStorage?.(structuredClone(stored)) as KubeObject & Record<string, unknown>
  assert.deepEqual(shown.spec, { scaleTargetRef, minReplicas: 1, maxReplicas: 5, targetCPUUtilizationPercentage: 60 })
  assert.deepEqual(JSON.parse(shown.metadata.annotations?.['autoscaling.alpha.kubernetes.io/metrics'] ?? ''), [
    { type: 'Resource', resource: { name: 'memory', targetAverageValue: '500Mi' } },
    { type: 'ContainerResource', containerResource: { container: 'c', name: 'cpu', targetAverageUtilization: 70 } },
    { type: 'Pods', pods: { metricName: 'packets', targetAverageValue: '1k' } },
    {
      type: 'Object',
      object: {
        metricName: 'requests',
        selector: { matchLabels: { a: 'b' } },
        target: { apiVersion: 'v1', kind: 'Service', name: 's' },
        targetValue: '2k',
      },
    },
    { type: 'External', external: { metricName: 'queue', targetAverageValue: '30' } },
  ])
  assert.equal(
    shown.metadata.annotations?.['autoscaling.alpha.kubernetes.io/behavior'],
    '{"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":null,"SelectPolicy":null,' +
      '"Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":60}],"Tolerance":null}}',
  )
  const back = v1.storedAs?.toStorage?.(shown) as KubeObject & {
    spec: { metrics: object[]; behavior: { scaleDown: { policies: object[] } } }
  }
  assert.deepEqual(back.spec.metrics, [...rest, cpu({ type: 'Utilization', averageUtilization: 60 })])
  assert.deepEqual(back.spec.behavior.scaleDown.policies, [{ type: 'Pods', value: 4, periodSeconds: 60 }])
  assert.deepEqual(back.metadata.annotations, { own: 'yes' })
})

test('v1 has the CPU utilization as a field, and each metric status in an annotation', () => {
  const used = {
    type: 'Resource',
    resource: { name: 'cpu', current: { averageUtilization: 41, averageValue: '205m' } },
  }
  const condition = {
    message: '',
    type: 'AbleToScale',
    status: 'True',
    reason: 'Ready',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  const prefix = 'autoscaling.alpha.kubernetes.io'
  const stored = scaler(
    {},
    { desiredReplicas: 1, currentMetrics: [used], conditions: [condition] },
    { annotations: { [`${prefix}/behavior`]: 'mine' } },
  )
  const shown = v1.storedAs?.fromStorage?.(structuredClone(stored)) as KubeObject & Record<string, unknown>
  assert.deepEqual(shown.status, { currentReplicas: 0, desiredReplicas: 1, currentCPUUtilizationPercentage: 41 })
  assert.deepEqual(shown.metadata.annotations, {
    [`${prefix}/current-metrics`]:
      '[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":41,"currentAverageValue":"205m"}}]',
    [`${prefix}/conditions`]:
      '[{"type":"AbleToScale","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"Ready"}]',
  })
  const back = v1.storedAs?.toStorage?.(shown) as KubeObject & { status: { currentMetrics: object[] } }
  assert.deepEqual(back.status.currentMetrics, [used])
})

test('invalid autoscalers are rejected with the messages of upstream', () => {
  const cases: readonly (readonly [object, readonly string[]])[] = [
    [{}, []],
    [{ minReplicas: 6 }, ['spec.maxReplicas: Invalid value: 5: must be greater than or equal to `minReplicas`']],
    [
      { maxReplicas: 0 },
      [
        'spec.maxReplicas: Required value: must be set and greater than 0',
        'spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`',
      ],
    ],
    [
      { scaleTargetRef: { apiVersion: 'apps/v1' } },
      ['spec.scaleTargetRef.kind: Required value', 'spec.scaleTargetRef.name: Required value'],
    ],
    [
      { metrics: [cpu({ type: 'Utilization' })] },
      [
        'spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value ' +
          'or a target utilization',
      ],
    ],
    [
      {
        metrics: [
          { type: 'ContainerResource', containerResource: { target: { type: 'Utilization', averageUtilization: 0 } } },
        ],
      },
      [
        'spec.metrics[0].containerResource.name: Required value: must specify a resource name',
        'spec.metrics[0].containerResource.container: Required value: must specify a container',
        'spec.metrics[0].containerResource.target.averageUtilization: Invalid value: 0: must be greater than 0',
      ],
    ],
    [
      {
        metrics: [
          {
            type: 'ContainerResource',
            containerResource: {
              name: 'InvalidResource',
              container: 'c',
              target: { type: 'Utilization', averageUtilization: 1 },
            },
          },
        ],
      },
      [
        'spec.metrics[0].containerResource.name: Invalid value: "InvalidResource": must be a standard resource ' +
          'type or fully qualified',
        'spec.metrics[0].containerResource.name: Invalid value: "InvalidResource": must be a standard resource ' +
          'for containers',
      ],
    ],
    [
      {
        metrics: [
          {
            type: 'Pods',
            pods: {
              metric: { name: 'a/b', selector: { matchExpressions: [{ key: 'a', operator: 'Near' }] } },
              target: {},
            },
          },
        ],
      },
      [
        `spec.metrics[0].pods.metric.name: Invalid value: "a/b": may not contain '/'`,
        'spec.metrics[0].pods.target.type: Required value: must specify a metric target type',
        'spec.metrics[0].pods.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue',
        'spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue',
      ],
    ],
    [
      { behavior: { scaleUp: { tolerance: '-0.1' } } },
      ['spec.behavior.scaleUp.tolerance: Invalid value: "-0.1": must be greater than or equal to 0'],
    ],
    [
      { metrics: [{ type: 'Resource' }] },
      ['spec.metrics[0].resource: Required value: must populate information for the given metric source'],
    ],
    [
      { behavior: { scaleDown: { policies: [{ type: 'Cows', value: 0, periodSeconds: 1801 }] } } },
      [
        'spec.behavior.scaleDown.policies[0].type: Unsupported value: "Cows": supported values: "Percent", "Pods"',
        'spec.behavior.scaleDown.policies[0].value: Invalid value: 0: must be greater than zero',
        'spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800',
      ],
    ],
  ]
  for (const [spec, expected] of cases) assert.deepEqual(validationErrors(spec), expected)
})

test('an empty list of scaling policies is invalid; an absent one gets defaults', () => {
  assert.deepEqual(validationErrors({ behavior: { scaleUp: { policies: [] } } }), [
    'spec.behavior.scaleUp.policies: Required value: must specify at least one Policy',
  ])
  assert.deepEqual(validationErrors({ behavior: { scaleUp: { selectPolicy: 'Min' } } }), [])
  const pods = (averageValue?: string): object => ({
    type: 'Pods',
    pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue } },
  })
  assert.deepEqual(validationErrors({ metrics: [pods('-1')] }), [
    'spec.metrics[0].pods.target.averageValue: Invalid value: "-1": must be positive',
  ])
  assert.deepEqual(validationErrors({ metrics: [pods()] }), [
    'spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue',
  ])
})

test('apiVersion of scaleTargetRef needs a group, except for ReplicationControllers or unchanged values', () => {
  const of = (apiVersion: string | undefined, kind = 'Deployment'): object => ({
    scaleTargetRef: { apiVersion, kind, name: 'web' },
  })
  const noGroup = (shown: string): string[] => [
    `spec.scaleTargetRef.apiVersion: Invalid value: "${shown}": apiVersion must specify API group`,
  ]
  assert.deepEqual(validationErrors(of('apps/v1')), [])
  assert.deepEqual(validationErrors(of(undefined)), noGroup(''))
  assert.deepEqual(validationErrors(of('v1')), noGroup('v1'))
  assert.deepEqual(validationErrors(of('v1', 'ReplicationController')), [])
  assert.deepEqual(validationErrors(of('a/b/c')), [
    'spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
  ])
  const update = (to: object, from: object): number => v2.validate?.update?.(complete(to), complete(from)).length ?? 0
  assert.equal(update(of('v1'), of('v1')), 0)
  assert.equal(update(of('v1'), of('apps/v1')), 1)
  const object = {
    metric: { name: 'm' },
    describedObject: { apiVersion: 'a/b/c', kind: 'Service', name: 's' },
    target: { type: 'Value', value: '2k' },
  }
  assert.deepEqual(validationErrors({ metrics: [{ type: 'Object', object }] }), [
    'spec.metrics[0].object.describedObject.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
  ])
  const measured = { metrics: [{ type: 'Object', object }] }
  assert.equal(update(measured, {}), 1)
  assert.equal(update(measured, measured), 0)
})
