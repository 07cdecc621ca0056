/** Context names for completion. Files that cannot be read are ignored. */
import { existsSync } from 'node:fs'
import { readKubeconfigFile, text } from '../../kubeconfig/kubeconfig-file.ts'
import { kubeconfigLocations } from '../../tools/config/files/locations.ts'
import type { Candidate } from './candidates.ts'

export async function contextNames(kubeconfig: string | undefined): Promise<readonly Candidate[]> {
  const { files } = kubeconfigLocations(process.env, kubeconfig)
  const configs = await Promise.all(
    files
      .filter((file) => existsSync(file))
      .map(async (file) => (await readKubeconfigFile(file)).entries('context'))
      .map((entries) => entries.catch(() => undefined)),
  )
  const names = new Map<string, string>()
  for (const config of configs) {
    for (const [name, { fields }] of config ?? []) if (!names.has(name)) names.set(name, text(fields.cluster) ?? '')
  }
  return [...names].map(([name, note]) => ({ text: name, note }))
}
