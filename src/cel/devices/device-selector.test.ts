import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deviceSelector } from './device-selector.ts'

const device = {
  attributes: {
    model: { string: 'x' },
    cores: { int: 8 },
    fast: { bool: true },
    firmware: { version: '1.10.0' },
    'other.example.com/zone': { string: 'a' },
  },
  capacity: { memory: { value: '8Gi' } },
}

test('expressions select devices by driver, attributes and capacity', () => {
  const cases: [string, boolean][] = [
    ['device.driver == "gpu.example.com"', true],
    ['device.attributes["gpu.example.com"].model == "x"', true],
    ['device.attributes["gpu.example.com"].cores > 8', false],
    ['device.attributes["gpu.example.com"].fast', true],
    ['device.attributes["gpu.example.com"].firmware.isGreaterThan(semver("1.9.0"))', true],
    ['device.attributes["other.example.com"].zone == "a"', true],
    ['"x" in device.attributes["nobody.example.com"]', false],
    ['"nobody.example.com" in device.attributes', false],
    ['"gpu.example.com" in device.capacity', true],
    ['device.capacity["gpu.example.com"].memory.compareTo(quantity("4Gi")) >= 0', true],
    ['cel.bind(gpu, device.attributes["gpu.example.com"], gpu.fast && gpu.cores == 8)', true],
    ['device.allowMultipleAllocations', false],
  ]
  for (const [expression, expected] of cases)
    assert.equal(deviceSelector(expression).matches(device, 'gpu.example.com'), expected, expression)
})

test('invalid expressions fail at compile time or at evaluation', () => {
  assert.throws(() => deviceSelector('device.nothing'), /^Error: compilation failed: ERROR/)
  assert.throws(
    () => deviceSelector('device.attributes[true].model'),
    /no matching overload for '_\[_\]' applied to '\(map\(string, map\(string, any\)\), bool\)'/,
  )
  assert.throws(() => deviceSelector('"text"'), /must evaluate to bool or the unknown type, not string/)
  assert.throws(
    () => deviceSelector('device.attributes["gpu.example.com"].missing == 1').matches(device, 'gpu.example.com'),
    /no such key: missing/,
  )
  assert.throws(
    () => deviceSelector('device.attributes["gpu.example.com"].model').matches(device, 'gpu.example.com'),
    /CEL result of type string could not be/,
  )
})

test('estimates use the maximum lengths of names and values of devices', () => {
  const cases: [string, number][] = [
    ['device.driver == "gpu.example.com"', 4],
    ['device.attributes["gpu.example.com"].model.matches("^[a-z]+$")', 18],
    ['device.attributes["gpu.example.com"]["model"].matches("^[a-z]+$")', 18],
    ['device.attributes["gpu.example.com"].model.split("-").size() >= 2', 19],
    ['device.attributes.exists(domain, domain.startsWith("gpu."))', 195],
  ]
  for (const [expression, expected] of cases)
    assert.equal(deviceSelector(expression).estimatedCost, expected, expression)
})

test('the error for a range that is not iterable names its type', () => {
  const cases: [string, string][] = [
    ['model', 'types.String'],
    ['cores', 'types.Int'],
    ['fast', 'types.Bool'],
    ['firmware', 'cel.Semver'],
  ]
  for (const [attribute, type] of cases) {
    const selector = deviceSelector(`device.attributes["gpu.example.com"].${attribute}.exists(x, x == "y")`)
    assert.throws(() => selector.matches(device, 'gpu.example.com'), new Error(`got '${type}', expected iterable type`))
  }
})
