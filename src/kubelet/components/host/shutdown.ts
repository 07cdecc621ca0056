/** The graceful end of pods before this machine shuts down. */
import { shutdownMetrics } from '../../metrics/shutdown-metrics.ts'
import { systemLogind } from '../../shutdown/logind.ts'
import { NodeShutdown } from '../../shutdown/node-shutdown.ts'
import { shutdownPeriods } from '../../shutdown/shutdown-groups.ts'
import { component, nodeReference } from '../parts.ts'

export const shutdown = component({
  name: 'node shutdown',
  needs: ['options', 'registry', 'recorder', 'node', 'registration', 'workers', 'admission', 'schedule'],
  gives: [],
  async start({ options, registry, recorder, node, registration, workers, admission, schedule }, lifetime) {
    const { configuration, log } = options
    const shutdown = new NodeShutdown({
      logind: systemLogind,
      periods: shutdownPeriods(configuration),
      activePods: () => workers.active,
      end: (pod, termination) => workers.end(pod.metadata.uid ?? '', termination),
      record: (reason, message) => recorder.record(nodeReference(node), 'Normal', reason, message, node.name),
      observe: shutdownMetrics(registry, Date.now),
      reportNode: () => registration.report(),
      log,
      schedule,
    })
    lifetime.onEnd(() => shutdown.stop())
    registration.addProblem(() => shutdown.problem)
    admission.add(() => shutdown.rejection, 'last')
    await shutdown.start()
    return {}
  },
})
