/** Controllers of service accounts, their tokens and the root CA for pods. */
import type { ControllerDescriptor } from '../descriptor.ts'
import { concurrencyFlag } from '../flags.ts'

const yearHours = 365 * 24

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'serviceaccount-controller',
    queue: 'serviceaccount',
    aliases: ['serviceaccount'],
    account: 'service-account-controller',
    make: async () => (await import('./default-account.ts')).serviceAccountController,
  },
  {
    name: 'root-ca-certificate-publisher-controller',
    queue: 'root_ca_cert_publisher',
    aliases: ['root-ca-cert-publisher'],
    account: 'root-ca-cert-publisher',
    missingRequirement: ({ rootCA }) =>
      rootCA ? undefined : 'no root CA of the API server is configured (--root-ca-file)',
    make: async ({ rootCA }, _flags, registry) => {
      const [{ rootCaPublisher }, { publisherMetrics }] = await Promise.all([
        import('./root-ca-publisher.ts'),
        import('./publisher-metrics.ts'),
      ])
      return rootCaPublisher(rootCA, publisherMetrics(registry))
    },
  },
  {
    name: 'legacy-serviceaccount-token-cleaner-controller',
    aliases: ['legacy-service-account-token-cleaner'],
    account: 'legacy-service-account-token-cleaner',
    flags: [
      {
        name: 'legacy-service-account-token-clean-up-period',
        type: 'duration',
        help: 'time without use after which a generated token Secret is marked, and then deleted',
        default: `${yearHours}h`,
      },
    ],
    make: async ({ clock }, flags) => {
      const { legacyTokens } = await import('./legacy-tokens.ts')
      return legacyTokens({
        unusedMs: flags.duration('legacy-service-account-token-clean-up-period'),
        now: () => clock.now(),
      })
    },
  },
  // Without an account of its own, as it creates the tokens of accounts.
  {
    name: 'serviceaccount-token-controller',
    queue: 'serviceaccount_tokens_secret',
    aliases: ['serviceaccount-token'],
    missingRequirement: ({ signToken }) =>
      signToken ? undefined : 'no key for signing tokens is configured (--service-account-private-key-file)',
    flags: [concurrencyFlag('concurrent-serviceaccount-token-syncs', 'generated token Secrets', 5)],
    make: async ({ rootCA, signToken }, flags) =>
      (await import('./token-secrets.ts')).tokensController({
        rootCA,
        sign: signToken!,
        concurrency: flags.number('concurrent-serviceaccount-token-syncs'),
      }),
  },
]
