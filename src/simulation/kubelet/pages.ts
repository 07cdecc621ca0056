/** Other endpoints of a kubelet: its pods, its stats summary, its resource metrics. */

import type { Pod } from '../../client/kinds.ts'
import { writeJson } from '../../lib/exact-json.ts'
import { timestamp } from '../../machinery/values/timestamp.ts'
import type { Page } from '../../node/server/served-nodes.ts'
import type { NodeAgent } from '../nodes/agent.ts'
import type { BehaviourDefaults } from '../pods/behaviour.ts'
import { runningContainers, type Usage, usageOf, usageOfPods } from '../usage/usage.ts'

export interface PageSources {
  readonly podsOf: (nodeName: string) => Iterable<Pod>
  readonly defaults: (nodeName: string) => BehaviourDefaults
  readonly now: () => number
}

const json = (body: object): Page => ({ type: 'application/json', text: writeJson(body) })

/** Undefined for an unknown path. */
export function kubeletPage(sources: PageSources, path: string, agent: NodeAgent): Page | undefined {
  const pods = [...sources.podsOf(agent.name)]
  if (path === '/pods' || path === '/pods/' || path === '/runningpods/')
    return json({
      kind: 'PodList',
      apiVersion: 'v1',
      metadata: {},
      items: path === '/runningpods/' ? pods.filter(({ status }) => status?.phase === 'Running') : pods,
    })
  if (path === '/healthz') return { type: 'text/plain; charset=utf-8', text: 'ok' }
  if (path === '/stats/summary') return json(summary(sources, agent, pods))
  if (path === '/metrics/resource')
    return { type: 'text/plain; version=0.0.4; charset=utf-8', text: resourceMetrics(sources, agent, pods) }
  return undefined
}

function summary({ defaults, now }: PageSources, { name, node }: NodeAgent, pods: readonly Pod[]): object {
  const time = timestamp(now())
  const stats = ({ cpuNano, memoryBytes }: Usage): object => ({
    cpu: { time, usageNanoCores: Math.round(cpuNano) },
    memory: { time, usageBytes: Math.round(memoryBytes), workingSetBytes: Math.round(memoryBytes) },
    swap: { time, swapUsageBytes: 0 },
  })
  return {
    node: {
      nodeName: name,
      startTime: node.metadata.creationTimestamp,
      ...stats(usageOfPods(pods, defaults(name), now())),
    },
    pods: pods.map((pod) => ({
      podRef: { name: pod.metadata.name, namespace: pod.metadata.namespace, uid: pod.metadata.uid },
      startTime: pod.status?.startTime,
      containers: runningContainers(pod).map((container) => ({
        name: container.name,
        ...stats(usageOf(pod, container, defaults(name), now())),
      })),
    })),
  }
}

/** CPU seconds are estimated: the run time at the current rate. */
function resourceMetrics({ defaults, now }: PageSources, { name, node }: NodeAgent, pods: readonly Pod[]): string {
  const since = (time: string | undefined): number => Math.max(0, (now() - Date.parse(time ?? '')) / 1000) || 0
  const whole = usageOfPods(pods, defaults(name), now())
  const measured = pods.flatMap((pod) =>
    runningContainers(pod).map((container) => {
      const startedAt = pod.status?.containerStatuses?.find((status) => status.name === container.name)?.state?.running
        ?.startedAt
      const labels = `{container="${container.name}",namespace="${pod.metadata.namespace}",pod="${pod.metadata.name}"}`
      return { labels, ...usageOf(pod, container, defaults(name), now()), seconds: since(startedAt) }
    }),
  )
  const metric = (title: string, type: string, help: string, lines: readonly string[]): string =>
    `# HELP ${title} [STABLE] ${help}\n# TYPE ${title} ${type}\n${lines.map((line) => `${title}${line}\n`).join('')}`
  return [
    metric(
      'container_cpu_usage_seconds_total',
      'counter',
      'Cumulative cpu time consumed by the container in core-seconds',
      measured.map(({ labels, cpuNano, seconds }) => `${labels} ${(cpuNano / 1e9) * seconds}`),
    ),
    metric(
      'container_memory_working_set_bytes',
      'gauge',
      'Current working set of the container in bytes',
      measured.map(({ labels, memoryBytes }) => `${labels} ${Math.round(memoryBytes)}`),
    ),
    metric('node_cpu_usage_seconds_total', 'counter', 'Cumulative cpu time consumed by the node in core-seconds', [
      ` ${(whole.cpuNano / 1e9) * since(node.metadata.creationTimestamp)}`,
    ]),
    metric('node_memory_working_set_bytes', 'gauge', 'Current working set of the node in bytes', [
      ` ${Math.round(whole.memoryBytes)}`,
    ]),
    metric('scrape_error', 'gauge', '1 if there was an error while getting container metrics, 0 otherwise', [' 0']),
  ].join('')
}
