/** The controllers: the loops that keep what the API promises. They know nothing but the API. */
import { randomBytes } from 'node:crypto'
import { Connection, type ServerAccess } from '../client/connection/connection.ts'
import { type RunningController, runController } from '../client/controller/controller.ts'
import { SharedInformers } from '../client/informers/shared-informers.ts'
import { RestClient } from '../client/rest/rest-client.ts'
import { ExplainedError } from '../lib/explained-error.ts'
import type { ControllerDescriptor, ControllerSources } from './descriptor.ts'
import { descriptors } from './descriptors.ts'
import { FlagValues } from './flags.ts'
import { withoutWork } from './names-without-work.ts'
import { areServed } from './served-kinds.ts'

export type { CertificateSigner, CertificateTerms, RequestedSubject } from './certificates/signing-request.ts'
export type { ControllerSources } from './descriptor.ts'

/** Who a controller is. Tokens are made for one process and known to nobody else. */
export interface ControllerIdentity {
  /** The user that upstream's role for it is bound to. */
  readonly user: string
  readonly token: string
}

/** Which controllers run, and as whom. Plain data: it may be sent to another thread. */
export interface ControllerPlan {
  /** As whom all controllers read: upstream's role lets it see everything. */
  readonly manager: ControllerIdentity
  /** By their names. */
  readonly controllers: readonly { readonly name: string; readonly identity: ControllerIdentity }[]
  /** Flags of controllers, by their names without dashes. */
  readonly flags: Readonly<Record<string, string>>
}

export interface PlanOptions {
  /** As `--controllers`: `*` stands for all that are on by default, `name` turns one on, `-name` off. All unless said. */
  readonly chosen?: readonly string[]
  readonly flags?: Readonly<Record<string, string>>
}

const tokenBytes = 32

/**
 * Each controller gets a token of its own, which the server has to be told of. Throws an ExplainedError for a name that no controller
 * has, and for flags that make no sense.
 */
export function planControllers({ chosen = ['*'], flags = {} }: PlanOptions = {}): ControllerPlan {
  const manager = identityOf('system:kube-controller-manager')
  const controllers = chosenOf(chosen).map(({ name, account, flags: own = [] }) => {
    new FlagValues(own, flags).check()
    return { name, identity: account ? identityOf(`system:serviceaccount:kube-system:${account}`) : manager }
  })
  return { manager, controllers, flags }
}

function chosenOf(chosen: readonly string[]): ControllerDescriptor[] {
  const names = new Map(descriptors.flatMap((descriptor) => [descriptor.name, ...(descriptor.aliases ?? [])].map((name) => [name, descriptor])))
  const on = new Set<ControllerDescriptor>()
  const off = new Set<ControllerDescriptor>()
  for (const choice of chosen) {
    if (choice === '*') {
      for (const descriptor of descriptors) if (!descriptor.onlyIfNamed) on.add(descriptor)
      continue
    }
    const name = choice.replace(/^-/, '')
    if (withoutWork.has(name)) continue
    const descriptor = names.get(name)
    if (!descriptor) {
      const known = [...descriptors.map((one) => one.name), ...withoutWork.keys()]
      throw new ExplainedError(`"${choice}" is not in the list of known controllers: choose of *, ${known.join(', ')}`)
    }
    if (choice.startsWith('-')) off.add(descriptor)
    else on.add(descriptor)
  }
  return descriptors.filter((descriptor) => on.has(descriptor) && !off.has(descriptor))
}

const identityOf = (user: string): ControllerIdentity => ({ user, token: randomBytes(tokenBytes).toString('base64url') })

export interface RunningControllers {
  /** Resolves when all controllers know what was there at the start. */
  readonly synced: Promise<void>
  /** Resolves when what is under way is done. */
  stop(): Promise<void>
}

/** Runs controllers over one connection. */
export function runControllers(plan: ControllerPlan, sources: ControllerSources, server: ServerAccess, log: (line: string) => void): RunningControllers {
  // The field manager of what controllers write is known by this name.
  const connection = new Connection({ ...server, userAgent: 'kube-controller-manager' })
  const reader = new RestClient(connection, plan.manager.token)
  const informers = new SharedInformers(reader, log)
  let isStopped = false
  const started = Promise.all(
    plan.controllers.map(async ({ name, identity }): Promise<RunningController | undefined> => {
      const { make, flags = [], requires = [] } = descriptors.find((descriptor) => descriptor.name === name)!
      if (!(await areServed(requires, reader, () => isStopped))) return undefined
      const controller = await make(sources, new FlagValues(flags, plan.flags))
      return isStopped ? undefined : runController(controller, { informers, client: new RestClient(connection, identity.token) }, log)
    }),
  )
  return {
    synced: started.then(async (running) => void (await Promise.all(running.map((controller) => controller?.synced)))),
    async stop() {
      isStopped = true
      const running = await started
      await Promise.all([informers.stop(), ...running.map((controller) => controller?.stop())])
      connection.close()
    },
  }
}
