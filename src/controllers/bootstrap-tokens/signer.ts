/** Signs the config map `cluster-info` in kube-public, if it exists, with each signing bootstrap token. */
import { type Controller, watch } from '../../client/controller/controller.ts'
import { configMaps, secrets } from '../../client/kinds.ts'
import { maxDelayMs } from '../max-delay.ts'
import { signedData } from './signatures.ts'
import { expiration, signingToken, tokenSelection } from './token.ts'

const name = 'cluster-info'
const namespace = 'kube-public'

export const bootstrapSigner = (now: () => number = Date.now): Controller => ({
  name: 'bootstrap-signer-controller',
  watches: [
    watch({
      resource: configMaps,
      selection: { namespace, fieldSelector: `metadata.name=${name}` },
      keys: () => [name],
    }),
    watch({ resource: secrets, selection: tokenSelection, keys: () => [name] }),
  ],
  async reconcile(key, { caches, client, requeue }) {
    const info = caches.get(configMaps, namespace, name)
    if (!info) return
    const all = [...caches.all(secrets)].sort((one, other) =>
      (one.metadata.name ?? '') < (other.metadata.name ?? '') ? -1 : 1,
    )
    const data = signedData(
      info.data ?? {},
      all.flatMap((secret) => signingToken(secret, now()) ?? []),
    )
    if (data) await client.update(configMaps, { ...info, data })
    const soonestMs = Math.min(...all.map(expiration).filter((end) => end > now())) - now()
    if (Number.isFinite(soonestMs)) requeue(key, Math.min(soonestMs, maxDelayMs))
  },
})
