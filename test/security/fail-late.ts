/**
 * Preloaded by a test: throws an uncaught error, in the form of a driver's error, with everything that the driver
 * knows.
 */
const fault = Object.assign(new Error('it broke'), {
  command: { name: 'auth', args: [process.env['CARRIED']] },
  query: process.env['CARRIED'],
})

// Drivers are imported after the product is loaded, however long that takes. Before that, the runtime reports faults
// itself.
const waiting = setInterval(() => {
  if (process.listenerCount('unhandledRejection') === 0) return
  clearInterval(waiting)
  if (process.env['FAULT'] === 'thrown') throw fault
  void Promise.reject(fault)
})
