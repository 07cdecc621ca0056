import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deviceSelector } from './device-selector.ts'

const device = {
  attributes: { model: { string: 'x' }, cores: { int: 8 }, fast: { bool: true }, firmware: { version: '1.10.0' }, 'other.example.com/zone': { string: 'a' } },
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
    ['device.capacity["gpu.example.com"].memory.compareTo(quantity("4Gi")) >= 0', true],
    ['cel.bind(gpu, device.attributes["gpu.example.com"], gpu.fast && gpu.cores == 8)', true],
    ['device.allowMultipleAllocations', false],
  ]
  for (const [expression, expected] of cases) assert.equal(deviceSelector(expression).matches(device, 'gpu.example.com'), expected, expression)
})

test('what is wrong is told when it is compiled, or when it is asked', () => {
  assert.throws(() => deviceSelector('device.nothing'), /^Error: compilation failed: ERROR/)
  assert.throws(() => deviceSelector('"text"'), /must evaluate to bool or the unknown type, not string/)
  assert.throws(() => deviceSelector('device.attributes["gpu.example.com"].missing == 1').matches(device, 'gpu.example.com'), /no such key: missing/)
})
