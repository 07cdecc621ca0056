import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultFeatures } from '../../api/features/feature-gates.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { ControllerEnvironment } from '../descriptor.ts'
import { FlagValues } from '../flags.ts'
import { controllers } from './index.ts'

const none = () => Promise.reject(new Error('nothing is signed here'))
const sources: ControllerEnvironment = {
  rootCA: '',
  signer: { read: none, sign: none },
  signToken: none,
  features: defaultFeatures,
}

/** What is said of a flag's value; undefined where nothing is wrong with it. */
async function fault(name: string, value: string): Promise<string | undefined> {
  const descriptor = controllers.find(({ flags }) => flags?.some((flag) => flag.name === name))!
  try {
    await descriptor.make(sources, new FlagValues(descriptor.flags ?? [], { [name]: value }), new MetricsRegistry())
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

test('slices hold from one to a thousand endpoints', async () => {
  assert.equal(await fault('max-endpoints-per-slice', '1000'), undefined)
  assert.equal(
    await fault('max-endpoints-per-slice', '0'),
    '--max-endpoints-per-slice has to be a whole number from 1 to 1000, not 0',
  )
  assert.equal(
    await fault('mirroring-max-endpoints-per-subset', '1001'),
    '--mirroring-max-endpoints-per-subset has to be a whole number from 1 to 1000, not 1001',
  )
})

test('without flags all of them are made, under their own names', async () => {
  for (const { name, flags = [], make } of controllers)
    assert.equal((await make(sources, new FlagValues(flags), new MetricsRegistry())).name, name)
})
