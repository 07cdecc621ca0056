import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pluginFactory } from '../framework/plugin.ts'
import { wait } from '../framework/status.ts'
import { memoryScheduler } from '../testing/memory-scheduler.fixture.ts'
import { aNode, aPod, withRequests } from '../testing/objects.fixture.ts'

/** The values of a metric by its labels, without buckets. */
function valuesOf(text: string, name: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
  return Object.fromEntries(
    lines.map((line) => [
      line.slice(name.length, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  )
}

test('metrics count attempts, plug-in calls and events under the names of kube-scheduler', async () => {
  const { cluster, scheduler, until } = await memoryScheduler()
  cluster.put(aNode('a'), aNode('b'))
  cluster.put(aPod('fits', withRequests({ cpu: '100m' })), aPod('large', withRequests({ cpu: '1000' })))
  await until('one is scheduled, one is unschedulable', () =>
    Boolean(cluster.pod('fits')?.spec?.nodeName && cluster.pod('large')?.status?.conditions),
  )
  await until('it is bound', () => scheduler.metrics.registry.render().includes('result="scheduled"'))
  await scheduler.stop()
  const text = scheduler.metrics.registry.render()
  const values = (name: string): Record<string, number> => valuesOf(text, `scheduler_${name}`)

  assert.deepEqual(values('schedule_attempts_total'), {
    '{result="scheduled",profile="default-scheduler"}': 1,
    '{result="unschedulable",profile="default-scheduler"}': 1,
  })
  assert.deepEqual(values('unschedulable_pods'), { '{plugin="NodeResourcesFit",profile="default-scheduler"}': 1 })
  assert.deepEqual(values('goroutines'), { '{operation="binding"}': 0 })
  assert.equal(values('cache_size')['{type="nodes"}'], 2)
  assert.equal(values('pending_pods')['{queue="unschedulable"}'], 1)
  assert.equal(values('pod_scheduling_sli_duration_seconds_count')['{attempts="1"}'], 1)

  const points = values('framework_extension_point_duration_seconds_count')
  const point = (name: string, status = 'Success'): number =>
    points[`{extension_point="${name}",status="${status}",profile="default-scheduler"}`] ?? 0
  for (const name of ['PreScore', 'Score', 'Reserve', 'Permit', 'PreBind', 'Bind', 'PostBind'])
    assert.equal(point(name), 1, name)
  for (const name of ['PreEnqueue', 'PreFilter', 'Filter']) assert.equal(point(name), 2, name)
  assert.equal(point('PostFilter', 'Unschedulable'), 1)

  const evaluations = values('plugin_evaluation_total')
  const evaluated = (plugin: string, name: string): number | undefined =>
    evaluations[`{plugin="${plugin}",extension_point="${name}",profile="default-scheduler"}`]
  assert.equal(evaluated('NodeResourcesFit', 'Filter'), 4)
  assert.equal(evaluated('NodeResourcesFit', 'PreFilter'), 2)
  assert.equal(evaluated('NodeResourcesFit', 'Score'), 2)
  // It skips pods without such terms, and is not called for nodes then.
  assert.equal(evaluated('InterPodAffinity', 'PreFilter'), 0)
  assert.equal(evaluated('InterPodAffinity', 'Filter'), 0)
  assert.equal(evaluated('NodeName', 'Score'), undefined)

  // The first attempt is timed, the second is not.
  const runs = values('plugin_execution_duration_seconds_count')
  assert.equal(runs['{plugin="NodeResourcesFit",extension_point="Filter",status="Success"}'], 1)
  assert.equal(runs['{plugin="NodeResourcesFit",extension_point="Filter",status="Unschedulable"}'], undefined)
  assert.equal(runs['{plugin="DefaultBinder",extension_point="Bind",status="Success"}'], 1)
  assert.equal(runs['{plugin="TaintToleration",extension_point="ScoreExtensionNormalize",status="Success"}'], 1)

  const events = values('event_handling_duration_seconds_count')
  assert.equal(events['{event="NodeAdd"}'], 2)
  assert.equal(events['{event="UnschedulablePodAdd"}'], 2)
  assert.equal(events['{event="AssignedPodAdd"}'], 1)
})

test('events have the labels of kube-scheduler', async () => {
  const { cluster, scheduler, until } = await memoryScheduler()
  cluster.put(aNode('a', { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }))
  cluster.put(aPod('p'))
  await until('it is unschedulable', () => Boolean(cluster.pod('p')?.status?.conditions))
  cluster.put(aNode('a'))
  await until('it is scheduled', () => Boolean(cluster.pod('p')?.spec?.nodeName))
  await scheduler.stop()
  const text = scheduler.metrics.registry.render()
  assert.match(text, /scheduler_event_handling_duration_seconds_count\{event="NodeUpdateNodeTaint"\} 1/)
  assert.match(text, /scheduler_queue_incoming_pods_total\{queue="(active|backoff)",event="NodeUpdateNodeTaint"\} 1/)
})

test('the duration of a Permit wait is observed by its result', async () => {
  const waiting = pluginFactory({ name: 'Waiting', make: () => ({ permit: () => wait(60_000) }) })
  const profiles = [{ plugins: { permit: { enabled: [{ name: 'Waiting' }] } } }]
  const { cluster, scheduler, until } = await memoryScheduler({ plugins: [waiting], configuration: { profiles } })
  cluster.put(aNode('a'), aPod('p'))
  await until('it waits', () => scheduler.cache.isAssumed(cluster.pod('p')?.metadata.uid ?? ''))
  await scheduler.stop()
  await until('it is observed', () =>
    scheduler.metrics.registry
      .render()
      .includes('scheduler_permit_wait_duration_seconds_count{result="Unschedulable"} 1'),
  )
  assert.match(
    scheduler.metrics.registry.render(),
    /_extension_point_duration_seconds_count\{extension_point="Permit",status="Wait",profile="default-scheduler"\} 1/,
  )
})
