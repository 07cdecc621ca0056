/** The logs of containers on disk: their rotation, and links for collectors of logs. */
import { dirname, join } from 'node:path'
import { ContainerState } from '#protobuf/cri-runtime_pb.js'
import { parseDurationMs } from '../../lib/duration.ts'
import { messageOf } from '../../lib/message-of.ts'
import { wholeValue } from '../../machinery/values/quantity.ts'
import { defaultContainerPolicy } from '../containers/collection/collection-plan.ts'
import { ContainerCollector } from '../containers/collection/container-collector.ts'
import { LogLinks } from '../logs/log-links.ts'
import { LogRotation } from '../logs/rotation/log-rotation.ts'
import { component, nodeReference } from './parts.ts'

/** The interval of checks of links, in ms. */
const linksMs = 60_000

export const containerLogs = component({
  name: 'container logs',
  needs: ['options', 'runtime', 'schedule'],
  gives: ['logLinks'],
  start({ options: { configuration, podLogs, log }, runtime, schedule }, lifetime) {
    const rotation = new LogRotation({
      runtime,
      maxBytes: Number(wholeValue(configuration.containerLogMaxSize)),
      maxFiles: configuration.containerLogMaxFiles,
      intervalMs: parseDurationMs(configuration.containerLogMonitorInterval) ?? 0,
      log,
      now: Date.now,
      schedule,
    })
    rotation.start()
    lifetime.onEnd(() => rotation.stop())
    const logLinks = new LogLinks(join(dirname(podLogs), 'containers'), log)
    let cancel = (): void => {}
    const clean = (): void => {
      runtime
        .containers({ state: { state: ContainerState.CONTAINER_RUNNING } })
        .then((running) => logLinks.removeDangling(new Set(running.map(({ id }) => id))))
        .catch((error) => log(`cannot remove links to logs that do not exist: ${messageOf(error)}`))
      cancel = schedule(clean, linksMs)
    }
    cancel = schedule(clean, linksMs)
    lifetime.onEnd(() => cancel())
    return { logLinks }
  },
})

export const collection = component({
  name: 'container collection',
  needs: ['options', 'runtime', 'recorder', 'node', 'logLinks', 'schedule'],
  gives: ['containerCollector'],
  start({ options, runtime, recorder, node, logLinks, schedule }, lifetime) {
    const { containerPolicy = defaultContainerPolicy, podLogs, log } = options
    const containerCollector = new ContainerCollector({
      runtime,
      policy: containerPolicy,
      logLinks,
      podLogs,
      log,
      now: Date.now,
      schedule,
      record: (reason, message) => recorder.record(nodeReference(node), 'Warning', reason, message, node.name),
    })
    lifetime.onEnd(() => containerCollector.stop())
    return { containerCollector }
  },
})
