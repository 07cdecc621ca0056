/**
 * Controllers in the process of a separate API server (`--controllers`): for test suites that need namespaces to be
 * emptied and dependents to be deleted.
 */
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { FeatureGates } from '../../api/features/feature-gates.ts'
import type { TokenUser } from '../../apiserver/authentication/tokens/static-tokens.ts'
import { planControllers, plannedClients, runControllers } from '../../controllers/index.ts'
import { controllerTokens } from '../controllers/index.ts'
import { namedSigners } from '../pki/certificate-signer.ts'

export interface ControllersServer {
  /** Connects within this process, independent of the server's certificate and address. */
  readonly dial: () => Duplex
  /** Authorities by which pods verify the server. */
  readonly rootCA: string
  readonly signToken: (claims: Readonly<Record<string, unknown>>) => Promise<string>
  readonly log: (line: string) => void
}

export interface StandaloneControllers {
  /** Tokens that the server must accept. */
  readonly tokens: readonly TokenUser[]
  start(server: ControllersServer): void
  /** Resolves when running work is done, or after `graceMs`. */
  stop(graceMs: number): Promise<void>
}

/** Throws an ExplainedError for an unknown controller. */
export function standaloneControllers(chosen: readonly string[], features?: FeatureGates): StandaloneControllers {
  const plan = planControllers({ chosen, features: features?.settings })
  let running: ReturnType<typeof runControllers> | undefined
  return {
    tokens: controllerTokens(plan),
    start({ dial, rootCA, signToken, log }) {
      // This server has no authority to sign with.
      const sources = { rootCA, signToken, signer: namedSigners(new Map()) }
      running = runControllers({
        chosen,
        flags: {},
        sources,
        features,
        clients: plannedClients(plan, { url: 'http://localhost', dial }),
        log,
      })
    },
    async stop(graceMs) {
      await Promise.race([running?.stop(), delay(graceMs, undefined, { ref: false })])
    },
  }
}
