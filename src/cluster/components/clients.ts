/** The clients of the API server that a cluster runs: controllers, scheduler, simulated nodes. */
import { signedToken } from '../../apiserver/authentication/service-accounts/signing-keys.ts'
import { clusterControllers } from '../controllers/index.ts'
import type { StartedControllers } from '../controllers/run-task.ts'
import { userOf } from '../credentials/cluster-users.ts'
import { clusterScheduler } from '../scheduler/index.ts'
import { component } from './component.ts'

const contextName = 't8s'

/**
 * Controllers that start when the cluster is ready, as upstream's, which wait for an API server. `Cluster.synced` waits
 * for them.
 */
function startedWhenReady(start: () => Promise<StartedControllers>): Pick<StartedControllers, 'synced' | 'stop'> {
  const started = new Promise((resolve) => setImmediate(resolve)).then(start)
  return {
    synced: started.then(({ synced }) => synced),
    stop: async () => (await started).stop(),
  }
}

export const controllers = component({
  name: 'controllers',
  needs: [
    'options',
    'addresses',
    'store',
    'plan',
    'endpoint',
    'clients',
    'running',
    'pki',
    'serviceAccount',
    'clock',
    'log',
  ],
  gives: ['controllers'],
  async start({ options, addresses, store, plan, endpoint, clients, running, pki, serviceAccount, clock, log }) {
    const { controllerManagerPort: port, tls = pki.server } = options
    const { bindAddress } = addresses
    const onThread = options.controllersThread ?? false
    const start = async (): Promise<StartedControllers> => {
      const started = await clusterControllers({
        plan,
        server: endpoint,
        authority: pki.authority,
        isElected: store.isShared,
        manager: port === undefined ? undefined : { bindAddress, port, tls },
        signToken: async (claims) => signedToken(await serviceAccount.signingKey(), claims),
        onThread,
        clock,
        log,
      })
      running.controllers = started
      return started
    }
    // A port and flags of the user may prevent the start, which then rejects.
    const mayFail = port !== undefined || options.controllerFlags !== undefined || store.isShared
    const controllers = onThread || mayFail ? await start() : startedWhenReady(start)
    clients.onEnd(() => controllers.stop())
    return { controllers }
  },
})

export const scheduler = component({
  name: 'scheduler',
  needs: ['schedulerPlan', 'flagged', 'store', 'endpoint', 'clients', 'running', 'clock', 'log'],
  gives: ['scheduler'],
  async start({ schedulerPlan, flagged, store, endpoint, clients, running, clock, log }) {
    if (!schedulerPlan) return { scheduler: undefined }
    const { onThread = false, ...choice } = schedulerPlan.choice
    const { token } = schedulerPlan.user
    const features = flagged.features?.settings
    const task = { ...choice, server: endpoint, token, isElected: store.isShared, features }
    const scheduler = await clusterScheduler({ ...task, onThread, clock, log })
    clients.onEnd(() => scheduler.stop())
    running.scheduler = scheduler
    return { scheduler }
  },
})

export const administrator = component({
  name: 'administrator',
  needs: ['endpoint', 'pki'],
  gives: ['administrator'],
  start: ({ endpoint, pki }) => ({ administrator: userOf({ ...endpoint, ...pki.admin }, contextName) }),
})

/** The class of volumes exists when the cluster is ready. */
export const hostPathClass = component({
  name: 'class of host path volumes',
  needs: ['administrator', 'hostPaths'],
  gives: [],
  async start({ administrator, hostPaths }) {
    await hostPaths.begin(administrator.client)
    return {}
  },
})

export const realNode = component({
  name: 'real node',
  needs: ['realNode', 'endpoint', 'administrator', 'clients', 'pki'],
  gives: ['registered'],
  start({ realNode, endpoint, administrator, clients, pki }) {
    if (!realNode) return { registered: Promise.resolve(true) }
    clients.onEnd(() => realNode.stop())
    return { registered: realNode.begin(endpoint, administrator.client, pki) }
  },
})

/** In the background, since it is not needed by others. */
export const ingress = component({
  name: 'ingress',
  needs: ['ingress', 'endpoint', 'administrator', 'clients'],
  gives: ['ingressServed'],
  start({ ingress, endpoint, administrator, clients }) {
    clients.onEnd(() => ingress.stop())
    return { ingressServed: ingress.begin(endpoint, administrator.client) }
  },
})

/**
 * Starts after the real node has taken its name, so that pods without a choice find it. One node takes the place of a
 * real one that cannot run.
 */
export const simulatedNodes = component({
  name: 'simulated nodes',
  needs: ['simulation', 'realNode', 'registered', 'endpoint', 'administrator', 'clients', 'pki'],
  gives: ['simulated'],
  start({ simulation, realNode, registered, endpoint, administrator, clients, pki }) {
    clients.onEnd(() => simulation.stop())
    // In the background: a part is a value, not a promise to wait for.
    const begin = (isRegistered: boolean): Promise<void> =>
      simulation.begin(endpoint, administrator.client, pki, isRegistered ? undefined : { atLeast: 1 })
    return { simulated: realNode ? registered.then(begin) : begin(true) }
  },
})
