import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultFeatures } from '../../api/features/feature-gates.ts'
import { systemClock } from '../../lib/clock/clock.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { ControllerEnvironment } from '../descriptor.ts'
import { FlagValues } from '../flags.ts'
import { controllers } from './index.ts'

const none = () => Promise.reject(new Error('signing is not available'))
const sources: ControllerEnvironment = {
  rootCA: '',
  signer: { read: none, sign: none },
  signToken: none,
  features: defaultFeatures,
  clock: systemClock,
}

/** The error for a flag's value; undefined if it is valid. */
async function errorOf(name: string, value: string): Promise<string | undefined> {
  const descriptor = controllers.find(({ flags }) => flags?.some((flag) => flag.name === name))!
  try {
    await descriptor.make(sources, new FlagValues(descriptor.flags ?? [], { [name]: value }), new MetricsRegistry())
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

test('the maximum endpoints of a slice must be from 1 to 1000', async () => {
  assert.equal(await errorOf('max-endpoints-per-slice', '1000'), undefined)
  assert.equal(
    await errorOf('max-endpoints-per-slice', '0'),
    '--max-endpoints-per-slice must be a whole number from 1 to 1000, not 0',
  )
  assert.equal(
    await errorOf('mirroring-max-endpoints-per-subset', '1001'),
    '--mirroring-max-endpoints-per-subset must be a whole number from 1 to 1000, not 1001',
  )
})

test('all controllers can be created with default flags', async () => {
  for (const { name, flags = [], make } of controllers)
    assert.equal((await make(sources, new FlagValues(flags), new MetricsRegistry())).name, name)
})
