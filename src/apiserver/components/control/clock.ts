/** The control of the cluster's clock, or the reason why it cannot be moved. */
import { component } from '../component.ts'

export const clock = component({
  name: 'clock',
  needs: ['options', 'registry', 'waitGroup'],
  gives: ['clockControl', 'clockEndpoints'],
  async start({ options: { movableClock, fixedClockReason }, registry, waitGroup }) {
    if (!movableClock && fixedClockReason === undefined) return { clockControl: undefined, clockEndpoints: undefined }
    const { clockEndpoints } = await import('../../clock/endpoints.ts')
    if (!movableClock) {
      const state = () => ({ time: new Date(registry.clock.now()).toISOString(), speed: 1 })
      return { clockControl: undefined, clockEndpoints: clockEndpoints({ reason: fixedClockReason!, state }) }
    }
    const { ClockControl } = await import('../../clock/clock-control.ts')
    let own = 0
    const control = new ClockControl(movableClock, async () => ({
      requests: Math.max(0, waitGroup.running - own),
      revision: await registry.store.currentRevision(),
    }))
    const endpoints = clockEndpoints(control)
    return {
      clockControl: control,
      // A request for a step is itself in progress.
      clockEndpoints(request) {
        const response = endpoints(request)
        if (!response) return undefined
        own++
        return response.finally(() => own--)
      },
    }
  },
})
