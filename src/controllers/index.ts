/** The controllers: the loops that keep what the API promises. They know nothing but the API. */
import { randomBytes } from 'node:crypto'
import { Connection, type ServerAccess } from '../client/connection.ts'
import { type Controller, type RunningController, runController } from '../client/controller.ts'
import { RestClient } from '../client/rest-client.ts'
import { ExplainedError } from '../lib/explained-error.ts'
import { csrApproving } from './certificates/approving.ts'
import { csrSigning } from './certificates/signing.ts'
import type { CertificateSigner } from './certificates/signing-request.ts'
import { clusterRoleAggregation } from './cluster-role-aggregation.ts'
import { serviceAccountController } from './service-accounts/default-account.ts'
import { rootCaPublisher } from './service-accounts/root-ca-publisher.ts'
import { tokensController } from './service-accounts/token-secrets.ts'
import { claimProtection } from './volume-protection/claims.ts'
import { volumeProtection } from './volume-protection/volumes.ts'

export type { CertificateSigner, CertificateTerms, RequestedSubject } from './certificates/signing-request.ts'

/** What controllers need beside the API. */
export interface ControllerSources {
  /** PEM bundle that pods check the server by. */
  readonly rootCA: string
  readonly signer: CertificateSigner
  /** Signs the claims of a service account's token. */
  readonly signToken: (claims: Readonly<Record<string, unknown>>) => Promise<string>
}

/** Who a controller is. Tokens are made for one process and known to nobody else. */
export interface ControllerIdentity {
  /** The user that upstream's role for it is bound to. */
  readonly user: string
  readonly token: string
}

export interface ControllerManager {
  /** As whom all controllers read: upstream's role lets it see everything. */
  readonly manager: ControllerIdentity
  readonly controllers: readonly { readonly controller: Controller; readonly identity: ControllerIdentity }[]
}

const tokenBytes = 32

/**
 * The controllers, each with a token of its own that the server has to be told of. `chosen` is as `--controllers`: `*` stands for all,
 * `name` turns one on, `-name` off. Throws an ExplainedError for a name that no controller has.
 */
export function controllerManager({ rootCA, signer, signToken }: ControllerSources, chosen: readonly string[] = ['*']): ControllerManager {
  const manager = identityOf('system:kube-controller-manager')
  const accounts: readonly (readonly [account: string | undefined, controller: Controller])[] = [
    ['service-account-controller', serviceAccountController],
    ['root-ca-cert-publisher', rootCaPublisher(rootCA)],
    // It has no account of its own: without it there would be none.
    [undefined, tokensController({ rootCA, sign: signToken })],
    ['clusterrole-aggregation-controller', clusterRoleAggregation],
    ['certificate-controller', csrApproving(signer)],
    ['certificate-controller', csrSigning(signer)],
    ['pvc-protection-controller', claimProtection],
    ['pv-protection-controller', volumeProtection],
  ]
  const names = accounts.map(([, { name }]) => name)
  const unknown = chosen.find((name) => name !== '*' && !names.includes(name.replace(/^-/, '')))
  if (unknown !== undefined) throw new ExplainedError(`"${unknown}" is not in the list of known controllers: choose of *, ${names.join(', ')}`)
  const isOn = ({ name }: Controller): boolean => !chosen.includes(`-${name}`) && (chosen.includes('*') || chosen.includes(name))
  const controllers = accounts
    .filter(([, controller]) => isOn(controller))
    .map(([account, controller]) => ({ controller, identity: account ? identityOf(`system:serviceaccount:kube-system:${account}`) : manager }))
  return { manager, controllers }
}

const identityOf = (user: string): ControllerIdentity => ({ user, token: randomBytes(tokenBytes).toString('base64url') })

export interface RunningControllers {
  readonly synced: Promise<void>
  /** Resolves when what is under way is done. */
  stop(): Promise<void>
}

/** Runs controllers over one connection. */
export function runControllers({ manager, controllers }: ControllerManager, server: ServerAccess, log: (line: string) => void): RunningControllers {
  const connection = new Connection(server)
  const reader = new RestClient(connection, manager.token)
  const running: RunningController[] = controllers.map(({ controller, identity }) =>
    runController(controller, { reader, writer: new RestClient(connection, identity.token) }, log),
  )
  return {
    synced: Promise.all(running.map(({ synced }) => synced)).then(() => {}),
    async stop() {
      await Promise.all(running.map((controller) => controller.stop()))
      connection.close()
    },
  }
}
