! SPDX-License-Identifier: Apache-2.0
! What a Fortran program may tell the collector that records it:
!     include "libfcollector.h"
! and link with -lcollectorAPI. Trailing blanks of a label do not count.
      interface
        subroutine collector_sample(name)
          character(len=*), intent(in) :: name
        end subroutine
        subroutine collector_pause()
        end subroutine
        subroutine collector_resume()
        end subroutine
        subroutine collector_terminate_expt()
        end subroutine
      end interface
