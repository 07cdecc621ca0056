/** The connection to the cluster: client, events, and the objects that are watched. */
import { Connection } from '../../client/connection/connection.ts'
import { EventRecorder } from '../../client/events/event-recorder.ts'
import { Informer } from '../../client/informers/informer.ts'
import { type Node, nodes, type Pod, pods, type Service, services } from '../../client/kinds.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import { PodEvents } from '../containers/container-events.ts'
import { isStatic } from '../sources/static-pods/annotations.ts'
import { StatusWriter } from '../status/status-writer.ts'
import { component } from './parts.ts'

const agentName = 'kubelet'

export const cluster = component({
  name: 'cluster',
  needs: ['options', 'metrics', 'node', 'desired', 'schedule'],
  gives: ['client', 'recorder', 'events', 'pods', 'services', 'ownNode', 'status'],
  start({ options, metrics, node, desired, schedule }, lifetime) {
    const { log } = options
    const connection = new Connection({ ...options.server, userAgent: agentName })
    lifetime.onEnd(() => connection.close())
    const client = new RestClient(connection)
    const recorder = new EventRecorder(client, agentName, log)
    lifetime.onEnd(() => recorder.stop())
    const status = new StatusWriter({
      client,
      log,
      schedule,
      objectOf: (pod) => (isStatic(pod) ? desired.mirrorOf(pod) : pod),
      observeDelay: (ms) => metrics.statusSync.observe(ms / 1000),
      now: Date.now,
    })
    lifetime.onEnd(() => status.stop())
    return {
      client,
      recorder,
      events: new PodEvents(recorder, node.name),
      status,
      pods: new Informer<Pod>({ client, resource: pods, fieldSelector: `spec.nodeName=${node.name}`, log }),
      ownNode: new Informer<Node>({ client, resource: nodes, fieldSelector: `metadata.name=${node.name}`, log }),
      services: new Informer<Service>({ client, resource: services, log }),
    }
  },
})
