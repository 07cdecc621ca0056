import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inTreePlugins } from '../plugins/index.ts'
import { makeProfile } from '../profile/profile.ts'
import { handleOf } from '../testing/try-plugin.fixture.ts'
import { parseConfiguration, type SchedulerConfiguration } from './index.ts'

const parse = (fields: object): SchedulerConfiguration =>
  parseConfiguration(
    { apiVersion: 'kubescheduler.config.k8s.io/v1', kind: 'KubeSchedulerConfiguration', ...fields },
    inTreePlugins,
  )

/** The names of a point's plug-ins; weights other than 1 are appended. */
function at(
  configuration: SchedulerConfiguration,
  point: 'filter' | 'score' | 'preFilter' | 'queueSort',
): readonly string[] {
  const profile = makeProfile(configuration.profiles[0]!, inTreePlugins, handleOf({ nodes: [] }))
  return profile.steps[point].map(({ name, weight }) => (weight === 1 ? name : `${name}=${weight}`))
}

test('the default is one profile with the default plug-ins in order and with their weights', () => {
  const configuration = parse({})
  assert.deepEqual(
    configuration.profiles.map(({ schedulerName }) => schedulerName),
    ['default-scheduler'],
  )
  assert.deepEqual(configuration.backOff, { initialMs: 1000, maxMs: 10_000 })
  assert.deepEqual(configuration.leaderElection, {
    leaderElect: true,
    leaseMs: 15_000,
    renewMs: 10_000,
    retryMs: 2_000,
    name: 'kube-scheduler',
    namespace: 'kube-system',
  })
  assert.deepEqual(at(configuration, 'queueSort'), ['PrioritySort'])
  assert.deepEqual(at(configuration, 'filter').slice(0, 6), [
    'NodeUnschedulable',
    'NodeName',
    'TaintToleration=3',
    'NodeAffinity=2',
    'NodePorts',
    'NodeResourcesFit',
  ])
  const scores = at(configuration, 'score')
  for (const score of [
    'TaintToleration=3',
    'NodeAffinity=2',
    'PodTopologySpread=2',
    'InterPodAffinity=2',
    'NodeResourcesFit',
    'ImageLocality',
  ])
    assert.ok(scores.includes(score), score)
})

test('plug-ins are enabled and disabled, everywhere or at one point, and get new weights', () => {
  const withPlugins = (plugins: object): SchedulerConfiguration => parse({ profiles: [{ plugins }] })
  const nowhere = withPlugins({ multiPoint: { disabled: [{ name: 'NodePorts' }] } })
  assert.ok(!at(nowhere, 'filter').includes('NodePorts'))
  const notHere = withPlugins({ filter: { disabled: [{ name: 'NodePorts' }] } })
  assert.ok(!at(notHere, 'filter').includes('NodePorts') && at(notHere, 'preFilter').includes('NodePorts'))
  const onlyThis = withPlugins({
    score: { disabled: [{ name: '*' }], enabled: [{ name: 'ImageLocality', weight: 7 }] },
  })
  assert.deepEqual(at(onlyThis, 'score'), ['ImageLocality=7'])
  const weighed = at(withPlugins({ multiPoint: { enabled: [{ name: 'ImageLocality', weight: 5 }] } }), 'score')
  assert.equal(weighed.at(-1), 'ImageLocality=5')
  const first = at(withPlugins({ filter: { enabled: [{ name: 'NodePorts' }] } }), 'filter')
  assert.deepEqual(first.slice(0, 2), ['NodePorts', 'NodeUnschedulable'])
  assert.throws(
    () => at(withPlugins({ filter: { enabled: [{ name: 'None' }] } }), 'filter'),
    /enabled\[0\]\.name: Invalid value: "None": there is no such plug-in: choose one of DefaultBinder, /,
  )
  assert.throws(
    () => at(withPlugins({ filter: { enabled: [{ name: 'ImageLocality' }] } }), 'filter'),
    /plugin "ImageLocality" does not extend filter plugin/,
  )
  assert.throws(
    () => at(withPlugins({ queueSort: { disabled: [{ name: '*' }] } }), 'filter'),
    /exactly one plug-in has to sort the queue/,
  )
  assert.throws(() => at(withPlugins({ bind: { disabled: [{ name: '*' }] } }), 'filter'), /enable DefaultBinder/)
})

test('arguments of plug-ins get their defaults and are validated', () => {
  const args = (given: object, name = 'DefaultPreemption') =>
    parse({ profiles: [{ pluginConfig: [{ name, args: given }] }] }).profiles[0]?.args.get(name)
  assert.deepEqual(args({ minCandidateNodesPercentage: 20 }), {
    minCandidateNodesPercentage: 20,
    minCandidateNodesAbsolute: 100,
  })
  assert.deepEqual(args({ kind: 'DefaultPreemptionArgs', apiVersion: 'kubescheduler.config.k8s.io/v1' }), {
    minCandidateNodesPercentage: 10,
    minCandidateNodesAbsolute: 100,
  })
  assert.throws(
    () => args({ minCandidateNodesPercentage: 101 }),
    /profiles\[0\]\.pluginConfig\[0\]\.args\.minCandidateNodesPercentage: Invalid value: 101/,
  )
  assert.throws(() => args({ unknown: 1 }), /unknown field "unknown"/)
  const spread = (...defaultConstraints: object[]) =>
    args({ defaultConstraints, defaultingType: 'List' }, 'PodTopologySpread')
  const zone = { topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 1 }
  const rejected: [() => unknown, RegExp][] = [
    [
      () => args({ minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0 }),
      new RegExp(
        'Percentage: .* as minCandidateNodesAbsolute; .*Absolute: Invalid value: 0: cannot be zero at ' +
          'the same time as minCandidateNodesPercentage',
      ),
    ],
    [
      () => args({ hardPodAffinityWeight: 101 }, 'InterPodAffinity'),
      /hardPodAffinityWeight: Invalid value: 101: not in valid range \[0, 100\]/,
    ],
    [
      () => args({ bindingTimeout: '500ms' }, 'DynamicResources'),
      /bindingTimeout: Invalid value: "500ms": must be at least 1 second/,
    ],
    [
      () => args({ filterTimeout: '-1s' }, 'DynamicResources'),
      /filterTimeout: Invalid value: "-1s": must be zero or positive/,
    ],
    [
      () => args({ resources: [{ name: 'cpu', weight: 101 }] }, 'NodeResourcesBalancedAllocation'),
      /weight: Invalid value: 101: must be 1$/,
    ],
    [
      () => args({ defaultingType: 'None' }, 'PodTopologySpread'),
      /Unsupported value: "None": supported values: "System", "List"/,
    ],
    [() => spread({ ...zone, topologyKey: '' }), /\[0\]\.topologyKey: Required value: can not be empty/],
    [
      () => spread({ ...zone, topologyKey: 'a b' }),
      /\[0\]\.topologyKey: Invalid value: "a b": name part must consist of/,
    ],
    [() => spread({ ...zone, whenUnsatisfiable: '' }), /\[0\]\.whenUnsatisfiable: Required value: can not be empty/],
    [
      () => spread(zone, { ...zone, maxSkew: 2 }),
      /defaultConstraints\[1\]: Duplicate value: "\{zone, ScheduleAnyway\}"/,
    ],
  ]
  for (const [give, message] of rejected) assert.throws(give, message)
  assert.throws(() => args({}, 'NodeName'), /NodeName takes no arguments/)
  assert.throws(() => args({}, 'None'), /there is no such plug-in/)
})

test('an invalid configuration is rejected with all of its errors', () => {
  const cases: [object, RegExp][] = [
    [{ parallelism: 0 }, /parallelism: Invalid value: 0: should be an integer value greater than zero/],
    [{ percentageOfNodesToScore: 101 }, /percentageOfNodesToScore: Invalid value: 101: not in valid range \[0-100\]/],
    [
      { podInitialBackoffSeconds: 20 },
      /podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds/,
    ],
    [
      { podInitialBackoffSeconds: 0, parallelism: -1 },
      /parallelism: .*; podInitialBackoffSeconds: Invalid value: 0: must be greater than 0/,
    ],
    [
      { profiles: [{ schedulerName: 'a' }, { schedulerName: 'a' }] },
      /profiles\[1\]\.schedulerName: Duplicate value: "a"/,
    ],
    [{ profiles: [{}, { schedulerName: 'a' }] }, /profiles\[0\]\.schedulerName: Required value/],
    [
      { leaderElection: { leaseDuration: '5s' } },
      /leaderElection\.leaseDuration: Invalid value: "10s": LeaseDuration must be greater than RenewDeadline/,
    ],
    [{ leaderElection: { resourceLock: 'configmaps' } }, /resourceLock value must be "leases"/],
    [
      {
        profiles: [
          { schedulerName: 'a', plugins: { queueSort: { enabled: [{ name: 'PrioritySort' }] } } },
          { schedulerName: 'b' },
        ],
      },
      /profiles\[1\]\.plugins\.queueSort: Invalid value: null: has to match for all profiles/,
    ],
    [{ extenders: [{}] }, /extenders\[0\]\.urlPrefix: Required value/],
    [
      { extenders: [{ urlPrefix: 'http://a', prioritizeVerb: 'p', weight: -1 }] },
      /must have a positive weight applied to it/,
    ],
    [
      {
        extenders: [
          { urlPrefix: 'http://a', bindVerb: 'b' },
          { urlPrefix: 'http://b', bindVerb: 'b' },
        ],
      },
      /only one extender can implement bind/,
    ],
    [
      { extenders: [{ urlPrefix: 'http://a', prioritizeVerb: 'p' }] },
      /extenders\[0\]\.weight: Invalid value: 0: must have a positive weight applied to it/,
    ],
    [
      { extenders: [{ urlPrefix: 'http://a', managedResources: [{ name: 'cpu' }] }] },
      /name: Invalid value: "cpu": is an invalid extended resource name/,
    ],
    [
      { extenders: [{ urlPrefix: 'http://a', managedResources: [{ name: 'a.b/c' }, { name: 'a.b/c' }] }] },
      /managedResources\[1\]\.name: Invalid value: "a\.b\/c": duplicate extender managed resource name/,
    ],
    [{ none: 1 }, /unknown field "none"/],
    [{ kind: 'Other' }, /no kind "Other" is registered/],
  ]
  for (const [fields, message] of cases) assert.throws(() => parse(fields), message, JSON.stringify(fields))
})
