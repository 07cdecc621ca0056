import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { KubeConfig, VersionApi } from '@kubernetes/client-node'
import type { startCluster } from '../../src/cluster/index.ts'
import { waitFor } from '../support/wait-for.ts'
import { temporaryFolder } from './t8s-process.ts'

test('programs start several clusters with the package, which saves what later programs start with', async (t) => {
  // Tests may have a cache of their own already.
  const { directory: folder = '' } = enableCompileCache(temporaryFolder(t))
  // The file that `import 'typernetes'` resolves to in an installed package.
  const bundle = (await import(join(import.meta.dirname, '../../.build/index.js'))) as {
    startCluster: typeof startCluster
  }
  const clusters = await Promise.all([
    bundle.startCluster({ storage: 'memory' }),
    bundle.startCluster({ storage: 'memory' }),
  ])
  try {
    assert.equal(new Set(clusters.map(({ port }) => port)).size, 2)
    for (const { kubeconfigYaml } of clusters) {
      const config = new KubeConfig()
      config.loadFromString(kubeconfigYaml)
      const { gitVersion } = await config.makeApiClient(VersionApi).getCode()
      assert.match(gitVersion, /^v1\.36\.\d+\+t8s\./)
    }
    await waitFor('the first objects', () =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).some((name) => /first-objects-.*\.json$/.test(name)),
    )
  } finally {
    await Promise.all(clusters.map((cluster) => cluster.stop()))
  }
})
