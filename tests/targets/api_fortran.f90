! SPDX-License-Identifier: Apache-2.0
! Speaks to the collector in Fortran: 0.3 s seen, 0.2 s while paused, 0.1 s seen, 0.2 s after the end.
program api_fortran
  implicit none
  include "libfcollector.h"
  character(len=20) :: label = 'padded label'

  call seen(0.3)
  call collector_sample(label)
  call collector_pause()
  call hidden(0.2)
  call collector_resume()
  call seen(0.1)
  call collector_terminate_expt()
  call hidden(0.2)
end program

subroutine seen(seconds)
  implicit none
  real, intent(in) :: seconds
  call work(seconds)
end subroutine

subroutine hidden(seconds)
  implicit none
  real, intent(in) :: seconds
  call work(seconds)
end subroutine

subroutine work(seconds)
  implicit none
  real, intent(in) :: seconds
  real :: start, now
  real, volatile :: sink = 0
  integer :: i

  call cpu_time(start)
  do
    do i = 1, 100000
      sink = sqrt(sink + i)
    end do
    call cpu_time(now)
    if (now - start >= seconds) exit
  end do
end subroutine
