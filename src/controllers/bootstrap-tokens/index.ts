/** Bootstrap tokens, with which new nodes join. As upstream, both controllers are off by default. */
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'bootstrap-signer-controller',
    queue: 'bootstrap_signer_queue',
    aliases: ['bootstrapsigner'],
    account: 'bootstrap-signer',
    isOffByDefault: true,
    make: async ({ clock }) => (await import('./signer.ts')).bootstrapSigner(() => clock.now()),
  },
  {
    name: 'token-cleaner-controller',
    queue: 'token_cleaner',
    aliases: ['tokencleaner'],
    account: 'token-cleaner',
    isOffByDefault: true,
    make: async ({ clock }) => (await import('./token-cleaner.ts')).tokenCleaner(() => clock.now()),
  },
]
