/**
 * Structured authentication (KEP-3331): a file configures the trusted token issuers, the mapping of their claims, and
 * anonymous authentication. It is reloaded when it changes. An invalid file is logged, and the old configuration
 * remains.
 */
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import { type FileWatcher, watchFile } from '../../../lib/files/watch-file.ts'
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import { jsonEqual } from '../../../machinery/fields/json.ts'
import { forbiddenField } from '../../../machinery/validation/field-error.ts'
import { type ReloadMetrics, reloadMetrics } from '../../config-files/reload-metrics.ts'
import type { JwtIssuer } from '../oidc/jwt-issuer.ts'
import { signingAlgorithms } from '../oidc/key-set.ts'
import { jwtMetrics } from '../oidc/metrics.ts'
import type { TokenAuthenticator, TokenVerdict } from '../token-authenticator.ts'
import type { TokenCacheMetrics } from '../tokens/cache-metrics.ts'
import { type AuthenticationConfiguration, parseConfiguration } from './configuration-file.ts'
import { type Issuers, type IssuersOptions, issuerTokens } from './issuers.ts'
import { checkConfiguration } from './validate-configuration.ts'

export interface IssuerSources {
  /** Issuers that must not be configured: the server's own, of service account tokens. */
  readonly disallowed: readonly string[]
  readonly metrics: MetricsRegistry
  readonly tokenCache: TokenCacheMetrics
  readonly log: (line: string) => void
}

export interface ConfiguredOptions extends IssuerSources {
  readonly file: string
  /** True if a flag configures anonymous authentication: the file must not do so too. */
  readonly anonymousFlag: boolean
  /** The time in ms that new issuers have to become ready before the reload counts as failed. Default: one minute. */
  readonly readyTimeoutMs?: number
  /** The delay in ms before a failed reload is retried. Default: one minute. */
  readonly retryMs?: number
}

/** The issuer of the flags `--oidc-…`. Throws an ExplainedError if it is invalid. */
export function flaggedIssuer(
  issuer: JwtIssuer,
  algorithms: readonly string[],
  { disallowed, metrics, tokenCache, log }: IssuerSources,
): TokenAuthenticator {
  const unknown = algorithms.find((algorithm) => !signingAlgorithms.includes(algorithm))
  if (unknown !== undefined) throw new ExplainedError(`oidc: unsupported signing alg: ${JSON.stringify(unknown)}`)
  try {
    checkConfiguration({ jwt: [issuer] }, disallowed)
  } catch (error) {
    throw new ExplainedError(`invalid authentication configuration: ${reasonOf(error)}`, { cause: error })
  }
  return issuerTokens([issuer], { algorithms, metrics: jwtMetrics(metrics), tokenCache, log })
}

const defaultReadyTimeoutMs = 60_000
const defaultRetryMs = 60_000
/** The interval in ms at which new issuers are checked for readiness. */
const pollMs = 100

export class ConfiguredAuthentication implements TokenAuthenticator {
  readonly name = 'AuthenticationConfiguration'
  readonly #options: ConfiguredOptions
  readonly #issuerOptions: IssuersOptions
  readonly #reloads: ReloadMetrics
  readonly #stopping = new AbortController()
  #configuration: AuthenticationConfiguration = {}
  #issuers: Issuers | undefined
  #watcher: FileWatcher | undefined
  #reloading = Promise.resolve()
  #retry: NodeJS.Timeout | undefined

  constructor(options: ConfiguredOptions) {
    this.#options = options
    this.#issuerOptions = {
      algorithms: signingAlgorithms,
      metrics: jwtMetrics(options.metrics),
      tokenCache: options.tokenCache,
      log: options.log,
    }
    this.#reloads = reloadMetrics(options.metrics, 'authentication')
  }

  /** Returns a function that decides on anonymous requests by path; undefined if the file has no such setting. */
  get anonymous(): ((path: string) => boolean) | undefined {
    const { anonymous } = this.#configuration
    if (!anonymous) return undefined
    const paths = anonymous.conditions?.map(({ path = '' }) => path) ?? []
    return (path) => anonymous.enabled === true && (paths.length === 0 || paths.includes(path))
  }

  authenticate(token: string, audiences: readonly string[]): TokenVerdict | Promise<TokenVerdict> {
    return this.#issuers?.authenticate(token, audiences)
  }

  /** Rejects with an ExplainedError for an invalid file. Providers may be unreachable. */
  async start(): Promise<void> {
    const { file, anonymousFlag } = this.#options
    let text: string
    try {
      text = await readFile(file, 'utf8')
      const configuration = parseConfiguration(text)
      const isConfiguredTwice = anonymousFlag && configuration.anonymous
      checkConfiguration(
        configuration,
        this.#options.disallowed,
        isConfiguredTwice
          ? [
              forbiddenField(
                'anonymous',
                '--anonymous-auth flag cannot be set when anonymous field is configured in authentication ' +
                  'configuration file',
              ),
            ]
          : [],
      )
      this.#configuration = configuration
    } catch (error) {
      throw new ExplainedError(
        `--authentication-config ${file}: invalid authentication configuration: ${reasonOf(error)}`,
        { cause: error },
      )
    }
    this.#issuers = issuerTokens(this.#configuration.jwt ?? [], this.#issuerOptions)
    await this.#issuers.start?.()
    this.#reloads.loaded(text)
    this.#watcher = watchFile(
      file,
      text,
      (changed) => this.#enqueueReload(changed),
      (error) => this.#logFailure('read', 'config file', error),
    )
  }

  stop(): void {
    this.#stopping.abort()
    this.#watcher?.stop()
    clearTimeout(this.#retry)
    this.#issuers?.stop()
  }

  #enqueueReload(text: string): Promise<void> {
    return (this.#reloading = this.#reloading.then(() => this.#reload(text)))
  }

  /** Never rejects. An invalid text is not retried; unreachable issuers are, until the file changes. */
  async #reload(text: string): Promise<void> {
    const { disallowed, log, retryMs = defaultRetryMs } = this.#options
    const { signal } = this.#stopping
    clearTimeout(this.#retry)
    let step = 'load'
    try {
      const configuration = parseConfiguration(text)
      step = 'validate'
      const isSame = jsonEqual(configuration.anonymous, this.#configuration.anonymous)
      checkConfiguration(
        configuration,
        disallowed,
        isSame ? [] : [forbiddenField('anonymous', 'changed from initial configuration file')],
      )
      step = 'update'
      await this.#apply(configuration)
      this.#reloads.reloaded(text)
      log('reloaded authentication config')
    } catch (error) {
      if (signal.aborted) return
      this.#logFailure(step, 'config', error)
      if (step === 'update') this.#retry = setTimeout(() => this.#enqueueReload(text), retryMs).unref()
    }
  }

  #logFailure(action: string, subject: string, error: unknown): void {
    this.#reloads.failed()
    this.#options.log(`failed to ${action} authentication ${subject}: ${reasonOf(error)}`)
  }

  /** Replaces the issuers when all new ones are ready. */
  async #apply(configuration: AuthenticationConfiguration): Promise<void> {
    const { signal } = this.#stopping
    const { readyTimeoutMs = defaultReadyTimeoutMs } = this.#options
    const issuers = issuerTokens(configuration.jwt ?? [], this.#issuerOptions)
    await issuers.start?.()
    try {
      const deadline = performance.now() + readyTimeoutMs
      while (issuers.faults.length > 0) {
        if (performance.now() > deadline)
          throw new Error(`[${[...issuers.faults, 'context deadline exceeded'].join(', ')}]`)
        await delay(pollMs, undefined, { signal, ref: false })
      }
    } catch (error) {
      issuers.stop()
      throw error
    }
    const oldIssuers = this.#issuers
    this.#issuers = issuers
    this.#configuration = configuration
    oldIssuers?.retire()
  }
}
